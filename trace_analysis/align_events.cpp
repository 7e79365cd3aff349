#include "trace_analysis/align_events.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "core/utf8.h"
#include "trace_analysis/common_sequence.h"

namespace amsp {
namespace {

/// "s12/rest" in its parts.
std::optional<std::pair<std::int64_t, std::string_view>> split_key(std::string_view key) {
  if (!key.starts_with('s')) return std::nullopt;
  std::int64_t step = 0;
  const auto [end, error] = std::from_chars(key.data() + 1, key.data() + key.size(), step);
  if (error != std::errc{} || end == key.data() + key.size() || *end != '/') return std::nullopt;
  // "s01" is no step of ours: its key is a text like any other.
  if (std::to_string(step) != std::string_view(key.data() + 1, end)) return std::nullopt;
  return std::pair(step, key.substr(static_cast<std::size_t>(end - key.data()) + 1));
}

std::vector<int> events_in(const RankTrace& trace, const StepWindow& window) {
  std::vector<int> inside;
  for (std::size_t i = 0; i < trace.events.size() && trace.events[i].start < window.end; ++i) {
    const GpuEvent& event = trace.events[i];
    if (event.end > window.begin || (event.start == event.end && event.start >= window.begin))
      inside.push_back(static_cast<int>(i));
  }
  return inside;
}

const GpuEvent& at(const RankTrace& trace, int event) {
  return trace.events[static_cast<std::size_t>(event)];
}

/// The name without template arguments and parameters.
std::string_view base_name(std::string_view name) {
  if (name.starts_with("void ")) name.remove_prefix(5);
  return name.substr(0, std::min(name.find('<'), name.find('(')));
}

std::string call_signature(const RankTrace& trace, int event) {
  const Collective& call = *trace.collective(at(trace, event));
  return fmt::format("{}|{}|{}|{}", call.op, call.members, call.group_size, call.bytes);
}

std::string full_signature(const RankTrace& trace, int event) {
  const GpuEvent& gpu = at(trace, event);
  if (gpu.collective >= 0) return call_signature(trace, event);
  return fmt::format("{}|{}|{}", base_name(trace.text(gpu.name)), trace.text_or(gpu.module, ""),
                     trace.text_or(gpu.bytes_or_shape, ""));
}

/// Without the name, which changes with versions; empty if nothing else is known.
std::string nameless_signature(const RankTrace& trace, int event) {
  const GpuEvent& gpu = at(trace, event);
  if (gpu.collective >= 0) return trace.collective(gpu)->op;
  if (gpu.module >= 0) return trace.text(gpu.module);
  return std::string(trace.text_or(gpu.bytes_or_shape, ""));
}

using Signature = std::string (*)(const RankTrace&, int);

class Aligner {
 public:
  Aligner(const RankTrace& a, const KeyIndex& keys_a, const StepWindow& window_a,
          const RankTrace& b, const KeyIndex& keys_b, const StepWindow& window_b)
      : a_(a), b_(b), keys_a_(keys_a), keys_b_(keys_b), window_a_(window_a), window_b_(window_b) {}

  StepAlignment run() {
    left_a_ = events_in(a_, window_a_);
    left_b_ = events_in(b_, window_b_);
    match_keys();
    match_calls();
    for (const Activity activity :
         {Activity::kCompute, Activity::kCommunication, Activity::kMemory}) {
      match_in_order(activity, full_signature);
      match_in_order(activity, nameless_signature);
    }
    result_.only_a = left_a_;
    result_.only_b = left_b_;
    std::sort(result_.matches.begin(), result_.matches.end(),
              [](const EventMatch& x, const EventMatch& y) {
                return std::pair(x.a, x.b) < std::pair(y.a, y.b);
              });
    return std::move(result_);
  }

 private:
  void take(int a, int b, Confidence confidence) { result_.matches.push_back({a, b, confidence}); }

  void drop_matched() {
    std::vector<bool> used_a(a_.events.size()), used_b(b_.events.size());
    for (const EventMatch& match : result_.matches) {
      used_a[static_cast<std::size_t>(match.a)] = true;
      used_b[static_cast<std::size_t>(match.b)] = true;
    }
    std::erase_if(left_a_, [&](int i) { return used_a[static_cast<std::size_t>(i)]; });
    std::erase_if(left_b_, [&](int i) { return used_b[static_cast<std::size_t>(i)]; });
  }

  void match_keys() {
    std::vector<bool> used_b(b_.events.size());
    const auto partner = [](const KeyIndex& own, std::int64_t number, int event,
                            const KeyIndex& other, std::int64_t other_number) {
      const std::string key = own.key(event, number);
      if (key.empty()) return -1;
      const std::vector<int>& found = other.events(key, other_number);
      const auto place = static_cast<std::size_t>(own.occurrence(event));
      return place < found.size() ? found[place] : -1;
    };
    for (const int i : left_a_) {
      const int j = partner(keys_a_, window_a_.number, i, keys_b_, window_b_.number);
      if (j < 0) continue;
      take(i, j, Confidence::kKey);
      used_b[static_cast<std::size_t>(j)] = true;
    }
    for (const int j : left_b_) {
      if (used_b[static_cast<std::size_t>(j)]) continue;
      const int i = partner(keys_b_, window_b_.number, j, keys_a_, window_a_.number);
      if (i >= 0) take(i, j, Confidence::kKey);
    }
    drop_matched();
  }

  void match_calls() {
    std::map<std::string, std::pair<std::vector<int>, std::vector<int>>> calls;
    for (const int i : left_a_)
      if (is_known_call(a_, i)) calls[call_signature(a_, i)].first.push_back(i);
    for (const int j : left_b_)
      if (is_known_call(b_, j)) calls[call_signature(b_, j)].second.push_back(j);
    for (const auto& [signature, sides] : calls) {
      if (sides.first.size() != sides.second.size()) continue;
      for (std::size_t i = 0; i < sides.first.size(); ++i)
        take(sides.first[i], sides.second[i], Confidence::kCall);
    }
    drop_matched();
  }

  /// Its group and bytes are known.
  static bool is_known_call(const RankTrace& trace, int event) {
    const Collective* call = trace.collective(at(trace, event));
    return call != nullptr && !call->members.empty() && call->bytes >= 0;
  }

  void match_in_order(Activity activity, Signature signature) {
    std::unordered_map<std::string, int> ids;
    std::vector<int> events[2], codes[2];
    for (const int side : {0, 1}) {
      const RankTrace& trace = side == 0 ? a_ : b_;
      for (const int i : side == 0 ? left_a_ : left_b_) {
        if (at(trace, i).activity != activity || is_keyed(trace, i)) continue;
        const std::string text = signature(trace, i);
        if (text.empty()) continue;
        events[side].push_back(i);
        codes[side].push_back(ids.try_emplace(text, static_cast<int>(ids.size())).first->second);
      }
    }
    // numbers by first occurrence would depend on the side: rank them by text
    std::map<std::string, int> sorted(ids.begin(), ids.end());
    std::vector<int> rank(ids.size());
    int next = 0;
    for (const auto& [text, id] : sorted) rank[static_cast<std::size_t>(id)] = next++;
    for (auto& list : codes)
      for (int& code : list) code = rank[static_cast<std::size_t>(code)];
    const CommonSequence common = common_sequence(codes[0], codes[1]);
    result_.gave_up = result_.gave_up || common.gave_up;

    std::vector<int> count_a(ids.size()), count_b(ids.size()), matched(ids.size());
    for (const int code : codes[0]) ++count_a[static_cast<std::size_t>(code)];
    for (const int code : codes[1]) ++count_b[static_cast<std::size_t>(code)];
    for (const auto& [i, j] : common.pairs)
      ++matched[static_cast<std::size_t>(codes[0][static_cast<std::size_t>(i)])];
    for (const auto& [i, j] : common.pairs) {
      const auto code = static_cast<std::size_t>(codes[0][static_cast<std::size_t>(i)]);
      const bool forced = count_a[code] == matched[code] && count_b[code] == matched[code];
      take(events[0][static_cast<std::size_t>(i)], events[1][static_cast<std::size_t>(j)],
           forced && signature == full_signature ? Confidence::kUnique : Confidence::kAmbiguous);
    }
    drop_matched();
  }

  /// An event whose key has no partner is really new: it is not paired with anything by guess,
  /// unless the other side has no keys at all.
  bool is_keyed(const RankTrace& trace, int event) const {
    return at(trace, event).key >= 0 && a_.has_keys && b_.has_keys;
  }

  const RankTrace& a_;
  const RankTrace& b_;
  const KeyIndex& keys_a_;
  const KeyIndex& keys_b_;
  const StepWindow& window_a_;
  const StepWindow& window_b_;
  std::vector<int> left_a_, left_b_;
  StepAlignment result_;
};

}  // namespace

const char* to_string(Confidence confidence) {
  switch (confidence) {
    case Confidence::kKey:
      return "task key";
    case Confidence::kCall:
      return "call of a group";
    case Confidence::kUnique:
      return "order, unique";
    case Confidence::kAmbiguous:
      return "order, ambiguous";
  }
  return "";
}

KeyIndex::KeyIndex(const RankTrace& trace) : trace_(&trace), occurrence_(trace.events.size()) {
  for (std::size_t i = 0; i < trace.events.size(); ++i) {
    if (trace.events[i].key < 0) continue;
    std::vector<int>& same = by_key_[trace.text(trace.events[i].key)];
    occurrence_[i] = static_cast<int>(same.size());
    same.push_back(static_cast<int>(i));
  }
}

std::string KeyIndex::key(int event, std::int64_t number) const {
  const std::int32_t id = at(*trace_, event).key;
  if (id < 0) return "";
  const std::string& text = trace_->text(id);
  const auto parts = split_key(text);
  return parts ? fmt::format("{:+}|{}", parts->first - number, parts->second) : "=|" + text;
}

const std::vector<int>& KeyIndex::events(const std::string& key, std::int64_t number) const {
  static const std::vector<int> none;
  const auto bar = key.find('|');
  std::string text = key.substr(bar + 1);
  if (key[0] != '=') {
    std::int64_t relative = 0;
    const std::size_t from = key[0] == '+' ? 1 : 0;
    std::from_chars(key.data() + from, key.data() + bar, relative);
    text = fmt::format("s{}/{}", number + relative, text);
  }
  const auto found = by_key_.find(text);
  return found == by_key_.end() ? none : found->second;
}

StepAlignment align_step(const RankTrace& a, const KeyIndex& keys_a, const StepWindow& window_a,
                         const RankTrace& b, const KeyIndex& keys_b, const StepWindow& window_b) {
  return Aligner(a, keys_a, window_a, b, keys_b, window_b).run();
}

std::string describe_event(const RankTrace& trace, int event) {
  const GpuEvent& gpu = at(trace, event);
  if (gpu.key >= 0) return trace.text(gpu.key);
  if (const Collective* call = trace.collective(gpu))
    return fmt::format("{} {} {}", call->op, call->group,
                       call->bytes < 0 ? "-" : fmt::format("{} B", call->bytes));
  return shorten(base_name(trace.text(gpu.name)), 60);
}

}  // namespace amsp
