#include "trace_analysis/joins.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "core/statistics.h"

namespace amsp {
namespace {

using JoinKey = std::tuple<std::string, std::string, int, std::string>;  // group, op, step, place

int step_of(const RankWindows& windows, Nanoseconds time) {
  int step = -1;
  for (const StepWindow& window : windows.steps) step += time >= window.begin ? 1 : 0;
  return step;
}

/// What is the same on all ranks of a collective.
std::vector<JoinKey> keys_of(const RankTrace& trace, const RankWindows& windows) {
  std::vector<JoinKey> keys(trace.events.size());
  std::map<std::tuple<std::string, std::string, int>, int> seen;
  for (std::size_t i = 0; i < trace.events.size(); ++i) {
    const GpuEvent& event = trace.events[i];
    const Collective* collective = trace.collective(event);
    if (collective == nullptr) continue;
    if (trace.own_schema && event.key >= 0) {
      keys[i] = {collective->members, collective->op, 0, trace.text(event.key)};
      continue;
    }
    if (collective->seq >= 0) {
      keys[i] = {collective->members, collective->op, 0, std::to_string(collective->seq)};
      continue;
    }
    const Launch* launch = event.correlation < 0 ? nullptr : trace.launch(event.correlation);
    const int step = step_of(windows, launch == nullptr ? event.start : launch->start);
    const int place = seen[{collective->members, collective->op, step}]++;
    keys[i] = {collective->members, collective->op, step, "#" + std::to_string(place)};
  }
  return keys;
}

/// What two ranks' collectives say about their clocks.
struct Comparison {
  std::vector<Nanoseconds> ends;  // end on the second - end on the first
  std::optional<Nanoseconds> low, high;
};

/// Clamped: clocks that are centuries apart are nonsense, but no reason to fail.
Nanoseconds sum(Nanoseconds a, Nanoseconds b) {
  constexpr Nanoseconds kMost{std::int64_t{1} << 61};
  return std::clamp(std::clamp(a, -kMost, kMost) + std::clamp(b, -kMost, kMost), -kMost, kMost);
}

class ClockWork {
 public:
  ClockWork(const std::vector<RankTrace>& ranks, Joins& joins) : ranks_(ranks), joins_(joins) {}

  void run() {
    joins_.clocks.resize(ranks_.size());
    const bool one_clock = std::all_of(ranks_.begin(), ranks_.end(),
                                       [](const RankTrace& trace) { return trace.simulated; });
    if (one_clock || ranks_.size() == 1) {
      for (ClockEstimate& clock : joins_.clocks) clock.source = "one clock";
    } else {
      compare();
      spread_out();
    }
    settle();
  }

 private:
  const GpuEvent& event(const Join::Member& member) const {
    return ranks_[static_cast<std::size_t>(member.rank)]
        .events[static_cast<std::size_t>(member.event)];
  }

  /// Neighbours in the order of ranks and the first member are compared: linear in the group.
  void compare() {
    for (const Join& join : joins_.joins)
      for (std::size_t i = 1; i < join.members.size(); ++i) {
        add(join.members[0], join.members[i]);
        if (i > 1) add(join.members[i - 1], join.members[i]);
      }
  }

  void add(const Join::Member& a, const Join::Member& b) {
    Comparison& pair = pairs_[{a.rank, b.rank}];
    const GpuEvent& first = event(a);
    const GpuEvent& second = event(b);
    pair.ends.push_back(second.end - first.end);
    const Nanoseconds low = second.start - first.end, high = second.end - first.start;
    pair.low = std::max(pair.low.value_or(low), low);
    pair.high = std::min(pair.high.value_or(high), high);
  }

  /// Breadth first from the first rank, so that few estimates add up.
  void spread_out() {
    std::vector<bool> known(ranks_.size(), false);
    known[0] = true;
    joins_.clocks[0].source = "reference";
    for (bool found = true; found;) {
      found = false;
      std::vector<std::pair<int, ClockEstimate>> next;
      for (const auto& [pair, comparison] : pairs_) {
        const auto [a, b] = pair;
        if (known[static_cast<std::size_t>(a)] == known[static_cast<std::size_t>(b)]) continue;
        const bool forward = known[static_cast<std::size_t>(a)];
        next.emplace_back(forward ? b : a,
                          estimate(joins_.clocks[static_cast<std::size_t>(forward ? a : b)],
                                   comparison, forward));
      }
      for (auto& [rank, clock] : next) {
        if (known[static_cast<std::size_t>(rank)]) continue;
        known[static_cast<std::size_t>(rank)] = true;
        joins_.clocks[static_cast<std::size_t>(rank)] = clock;
        found = true;
      }
    }
    for (std::size_t i = 0; i < ranks_.size(); ++i)
      if (!known[i]) joins_.clocks[i].source = "unknown: no collective in common";
  }

  static ClockEstimate estimate(const ClockEstimate& base, const Comparison& comparison,
                                bool forward) {
    ClockEstimate clock;
    const Nanoseconds middle = quantile_by_place(comparison.ends, 0.5);
    clock.offset = base.offset + (forward ? middle : -middle);
    clock.spread = base.spread + (quantile_by_place(comparison.ends, 0.9) -
                                  quantile_by_place(comparison.ends, 0.1) + 1_ns) /
                                     2;
    const Nanoseconds low = forward ? *comparison.low : -*comparison.high;
    const Nanoseconds high = forward ? *comparison.high : -*comparison.low;
    clock.low = sum(base.low.value_or(base.offset), low);
    clock.high = sum(base.high.value_or(base.offset), high);
    clock.collectives = static_cast<int>(comparison.ends.size());
    clock.source = "ends of collectives";
    return clock;
  }

  void settle() {
    for (Join& join : joins_.joins)
      for (std::size_t i = 0; i < join.members.size(); ++i) {
        const Join::Member& member = join.members[i];
        const Nanoseconds start =
            event(member).start - joins_.clocks[static_cast<std::size_t>(member.rank)].offset;
        if (i > 0 && start <= join.joined) continue;
        join.joined = start;
        join.last = static_cast<int>(i);
      }
  }

  const std::vector<RankTrace>& ranks_;
  Joins& joins_;
  std::map<std::pair<int, int>, Comparison> pairs_;
};

}  // namespace

Joins join_collectives(const std::vector<RankTrace>& ranks,
                       const std::vector<RankWindows>& windows) {
  Joins result;
  std::map<JoinKey, Join> by_key;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    const std::vector<JoinKey> keys = keys_of(ranks[rank], windows[rank]);
    for (std::size_t i = 0; i < keys.size(); ++i) {
      // without a name or ranks of its group a call can't be told from another group's
      if (std::get<0>(keys[i]).empty()) continue;
      std::vector<Join::Member>& members = by_key[keys[i]].members;
      if (!members.empty() && members.back().rank == static_cast<int>(rank)) continue;
      members.push_back({static_cast<int>(rank), static_cast<int>(i)});
    }
    result.join_of_event.emplace_back(ranks[rank].events.size(), -1);
  }
  for (auto& [key, join] : by_key) {
    if (join.members.size() < 2) continue;
    for (const Join::Member& member : join.members)
      result.join_of_event[static_cast<std::size_t>(member.rank)]
                          [static_cast<std::size_t>(member.event)] =
          static_cast<int>(result.joins.size());
    result.joins.push_back(std::move(join));
  }
  ClockWork(ranks, result).run();
  return result;
}

std::optional<Nanoseconds> waiting_time(const std::vector<RankTrace>& ranks, const Joins& joins,
                                        int rank, int event) {
  const RankTrace& trace = ranks[static_cast<std::size_t>(rank)];
  const GpuEvent& gpu = trace.events[static_cast<std::size_t>(event)];
  const Collective* collective = trace.collective(gpu);
  if (collective == nullptr) return std::nullopt;
  const int join =
      joins.join_of_event[static_cast<std::size_t>(rank)][static_cast<std::size_t>(event)];
  const Nanoseconds duration = gpu.end - gpu.start;
  if (trace.simulated && collective->wait) return std::min(*collective->wait, duration);
  if (join < 0)
    return collective->wait ? std::optional(std::min(*collective->wait, duration)) : std::nullopt;
  const Nanoseconds joined = joins.joins[static_cast<std::size_t>(join)].joined +
                             joins.clocks[static_cast<std::size_t>(rank)].offset;
  return std::clamp(joined - gpu.start, 0_ns, duration);
}

}  // namespace amsp
