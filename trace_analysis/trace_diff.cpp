#include "trace_analysis/trace_diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "core/error.h"

namespace amsp {
namespace {

std::size_t index_of(int value) {
  return static_cast<std::size_t>(value);
}

/// Which step of a rank has the median window.
std::size_t median_step(const std::vector<StepWindow>& steps) {
  std::vector<std::size_t> order(steps.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t x, std::size_t y) {
    return steps[x].end - steps[x].begin < steps[y].end - steps[y].begin;
  });
  return order[(order.size() - 1) / 2];
}

class Differ {
 public:
  Differ(const Analysis& a, const Analysis& b) : a_(a), b_(b) {}

  TraceDiff run() {
    pair_ranks();
    for (StepPair& pair : diff_.pairs) compare(pair);
    finish();
    return std::move(diff_);
  }

 private:
  void pair_ranks() {
    std::vector<std::pair<std::size_t, std::size_t>> ranks;
    if (a_.ranks() == 1 && b_.ranks() == 1) {
      ranks.emplace_back(0, 0);
      if (a_.rank(0).rank != b_.rank(0).rank)
        diff_.left_out.push_back(fmt::format("{} of A is compared with {} of B, the only ones",
                                             a_.rank(0).label(), b_.rank(0).label()));
    } else {
      std::set<std::size_t> paired;
      for (std::size_t i = 0; i < a_.ranks(); ++i) {
        const auto same = [&](const RankTrace& trace) { return trace.rank == a_.rank(i).rank; };
        const auto found = std::find_if(b_.set.ranks.begin(), b_.set.ranks.end(), same);
        if (found == b_.set.ranks.end()) {
          diff_.left_out.push_back(a_.rank(i).label() + " is only in A");
          continue;
        }
        const auto j = static_cast<std::size_t>(found - b_.set.ranks.begin());
        paired.insert(j);
        ranks.emplace_back(i, j);
      }
      for (std::size_t j = 0; j < b_.ranks(); ++j)
        if (!paired.contains(j)) diff_.left_out.push_back(b_.rank(j).label() + " is only in B");
    }
    if (ranks.empty()) throw ConfigError("the two sides have no rank in common");
    const auto& steps_a = a_.windows[ranks[0].first].steps;
    const auto& steps_b = b_.windows[ranks[0].second].steps;
    const bool one_a = steps_a.size() == 1 && steps_b.size() > 1;
    const bool one_b = steps_b.size() == 1 && steps_a.size() > 1;
    const std::size_t at_a = one_b ? median_step(steps_a) : 0;
    const std::size_t at_b = one_a ? median_step(steps_b) : 0;
    if (one_a || one_b)
      diff_.left_out.push_back(
          fmt::format("the one step of {} is compared with step {} of {}, of median length",
                      one_a ? "A" : "B", one_a ? at_b : at_a, one_a ? "B" : "A"));
    for (const auto& [i, j] : ranks) {
      const std::size_t count_a = a_.parts[i].size(), count_b = b_.parts[j].size();
      if (one_a || one_b) {
        if (at_a < count_a && at_b < count_b) diff_.pairs.push_back({i, j, at_a, at_b, {}});
        continue;
      }
      for (std::size_t step = 0; step < std::min(count_a, count_b); ++step)
        diff_.pairs.push_back({i, j, step, step, {}});
      if (count_a != count_b)
        diff_.left_out.push_back(fmt::format("{}: {} steps in A, {} in B: the last are left out",
                                             a_.rank(i).label(), count_a, count_b));
    }
    if (diff_.pairs.empty()) throw ConfigError("the two sides have no step in common");
  }

  static const KeyIndex& keys(std::map<std::size_t, KeyIndex>& cache, const Analysis& side,
                              std::size_t rank) {
    return cache.try_emplace(rank, side.rank(rank)).first->second;
  }

  void compare(StepPair& pair) {
    const RankTrace& a = a_.rank(pair.rank_a);
    const RankTrace& b = b_.rank(pair.rank_b);
    const StepWindow& window_a = a_.windows[pair.rank_a].steps[pair.step_a];
    const StepWindow& window_b = b_.windows[pair.rank_b].steps[pair.step_b];
    const KeyIndex& keys_a = keys(keys_a_, a_, pair.rank_a);
    const KeyIndex& keys_b = keys(keys_b_, b_, pair.rank_b);
    pair.alignment = align_step(a, keys_a, window_a, b, keys_b, window_b);
    add_parts(a_.parts[pair.rank_a][pair.step_a], &WaterfallPart::a);
    add_parts(b_.parts[pair.rank_b][pair.step_b], &WaterfallPart::b);
    diff_.step_a += window_a.end - window_a.begin;
    diff_.step_b += window_b.end - window_b.begin;
    for (const EventMatch& match : pair.alignment.matches) {
      const Nanoseconds time_a = duration(a, match.a), time_b = duration(b, match.b);
      auto& [matched_a, matched_b] = diff_.coverage.matched[match.confidence];
      matched_a += time_a;
      matched_b += time_b;
      diff_.coverage.all_a += time_a;
      diff_.coverage.all_b += time_b;
      add_match(pair, match);
    }
    const char* reason = pair.alignment.gave_up ? "too different to align in order" : "no partner";
    for (const int event : pair.alignment.only_a) {
      diff_.coverage.all_a += duration(a, event);
      diff_.only_a.push_back(unmatched(a_, pair.rank_a, event, window_a, reason));
    }
    for (const int event : pair.alignment.only_b) {
      diff_.coverage.all_b += duration(b, event);
      diff_.only_b.push_back(unmatched(b_, pair.rank_b, event, window_b, reason));
    }
  }

  static Nanoseconds duration(const RankTrace& trace, int event) {
    const GpuEvent& gpu = trace.events[index_of(event)];
    return gpu.end - gpu.start;
  }

  static Unmatched unmatched(const Analysis& side, std::size_t rank, int event,
                             const StepWindow& window, const char* reason) {
    const RankTrace& trace = side.rank(rank);
    return {describe_event(trace, event),
            rank,
            window.number,
            reason,
            trace.events[index_of(event)].start - window.begin,
            duration(trace, event)};
  }

  void add_parts(const StepParts& parts, Nanoseconds WaterfallPart::*side) {
    const auto add = [&](const std::string& name, Nanoseconds time) {
      const auto [found, is_new] = part_of_.try_emplace(name, diff_.waterfall.size());
      if (is_new) diff_.waterfall.push_back({name, {}, {}});
      diff_.waterfall[found->second].*side += time;
    };
    add("compute", parts.compute);
    for (const auto& [kind, share] : parts.by_kind) {
      add("exposed " + kind + " transfer", share.exposed_transfer);
      add("exposed " + kind + " wait", share.exposed_wait);
    }
    add("memory", parts.memory_only);
    add("idle", parts.idle);
  }

  /// Transfer alone where both sides know it, else the whole duration.
  void add_match(const StepPair& pair, const EventMatch& match) {
    const RankTrace& a = a_.rank(pair.rank_a);
    const RankTrace& b = b_.rank(pair.rank_b);
    Nanoseconds time_a = duration(a, match.a), time_b = duration(b, match.b);
    const std::optional<Nanoseconds> wait_a =
        waiting_time(a_.set.ranks, a_.joins, static_cast<int>(pair.rank_a), match.a);
    const std::optional<Nanoseconds> wait_b =
        waiting_time(b_.set.ranks, b_.joins, static_cast<int>(pair.rank_b), match.b);
    if (wait_a && wait_b) {
      time_a -= *wait_a;
      time_b -= *wait_b;
    }
    diff_.signed_error += time_b - time_a;
    diff_.absolute_error += abs(time_b - time_a);
    add_operation(by_key_, std::min(key_name(a, match.a), key_name(b, match.b)), time_a, time_b);
    add_operation(by_operation_, operation_name(a, match.a, b, match.b), time_a, time_b);
  }

  static void add_operation(std::map<std::string, OperationDiff>& map, const std::string& name,
                            Nanoseconds a, Nanoseconds b) {
    OperationDiff& operation = map[name];
    operation.name = name;
    operation.a.push_back(a);
    operation.b.push_back(b);
    operation.sum_a += a;
    operation.sum_b += b;
  }

  /// The key without its step.
  static std::string key_name(const RankTrace& trace, int event) {
    std::string text = describe_event(trace, event);
    const GpuEvent& gpu = trace.events[index_of(event)];
    const auto slash = text.find('/');
    if (gpu.key >= 0 && text[0] == 's' && slash != std::string::npos) text.erase(0, slash + 1);
    return text;
  }

  static std::string operation_name(const RankTrace& a, int event_a, const RankTrace& b,
                                    int event_b) {
    const auto of = [](const RankTrace& trace, int event) -> std::string {
      const GpuEvent& gpu = trace.events[index_of(event)];
      if (gpu.phase >= 0 && gpu.op >= 0)
        return fmt::format("{} {} {}", trace.text(gpu.phase), trace.text_or(gpu.module, "-"),
                           trace.text(gpu.op));
      if (const Collective* call = trace.collective(gpu)) return call->op + " " + call->group;
      if (gpu.module >= 0) return trace.text(gpu.module);
      return describe_event(trace, event);
    };
    return std::min(of(a, event_a), of(b, event_b));  // the same for both directions
  }

  static std::vector<OperationDiff> sorted(std::map<std::string, OperationDiff>& map) {
    std::vector<OperationDiff> list;
    list.reserve(map.size());
    for (auto& [name, operation] : map) list.push_back(std::move(operation));
    std::stable_sort(list.begin(), list.end(), [](const OperationDiff& x, const OperationDiff& y) {
      return abs(x.delta()) > abs(y.delta());
    });
    return list;
  }

  void finish() {
    diff_.by_key = sorted(by_key_);
    diff_.by_operation = sorted(by_operation_);
    for (std::vector<Unmatched>* list : {&diff_.only_a, &diff_.only_b})
      std::stable_sort(list->begin(), list->end(),
                       [](const Unmatched& x, const Unmatched& y) { return x.time > y.time; });
    // a fixed order, whichever side had a part first
    const auto place = [](const WaterfallPart& part) {
      if (part.name == "compute") return 0;
      if (part.name == "memory") return 2;
      return part.name == "idle" ? 3 : 1;
    };
    std::sort(diff_.waterfall.begin(), diff_.waterfall.end(),
              [&](const WaterfallPart& x, const WaterfallPart& y) {
                return std::pair(place(x), x.name) < std::pair(place(y), y.name);
              });
    Nanoseconds a, b;
    for (const WaterfallPart& part : diff_.waterfall) {
      a += part.a;
      b += part.b;
    }
    AMSP_CHECK(a == diff_.step_a && b == diff_.step_b,
               "the parts add up to {} and {} ns, the steps to {} and {}", a.value, b.value,
               diff_.step_a.value, diff_.step_b.value);
  }

  const Analysis& a_;
  const Analysis& b_;
  TraceDiff diff_;
  std::map<std::string, std::size_t> part_of_;
  std::map<std::string, OperationDiff> by_key_, by_operation_;
  std::map<std::size_t, KeyIndex> keys_a_, keys_b_;
};

}  // namespace

TraceDiff diff_traces(const Analysis& a, const Analysis& b) {
  return Differ(a, b).run();
}

double step_change(const TraceDiff& diff) {
  return (diff.step_b - diff.step_a) / diff.step_a;
}

}  // namespace amsp
