#include "traces/check/event_rules.h"

#include <fmt/core.h>

#include <algorithm>
#include <string_view>
#include <tuple>

#include "core/json/object_reader.h"
#include "traces/terms/trace_text.h"

namespace amsp {
namespace {

constexpr std::string_view kPhases = "XMCistf";
constexpr std::string_view kOtherPhases = "BEbenIRSTpFPNODaAvVc()";  // of traces of others
// 2^53: up to here viewers, which read times as doubles, have every nanosecond
constexpr Nanoseconds kLatest = Nanoseconds{std::int64_t{1} << 53};
// members of "args" that make tools misread the trace
constexpr const char* kForbiddenArgs[] = {"rank", "name"};
constexpr std::string_view kMetadataNames[] = {"process_name", "thread_name", "process_sort_index",
                                               "thread_sort_index", "process_labels"};

/// The type of the event; std::nullopt if it is none that we write.
std::optional<char> phase_of(const Json& event) {
  const Json& ph = member(event, "ph");
  if (!ph.is_string()) return std::nullopt;
  const auto& text = ph.get_ref<const std::string&>();
  if (text.size() != 1 || kPhases.find(text[0]) == std::string_view::npos) return std::nullopt;
  return text[0];
}

std::string text_of(const Json& event, const char* key) {
  const Json& value = member(event, key);
  return value.is_string() ? value.get<std::string>() : std::string();
}

bool is_step(const Json& event) {
  return member(event, "cat") == "user_annotation" &&
         text_of(event, "name").starts_with("ProfilerStep#");
}

}  // namespace

void EventRules::fail(const ScannedEvent& event, std::string reason) {
  violations_.add(event.number, std::move(reason));
}

void EventRules::add(const ScannedEvent& event) {
  const Json& value = event.value;
  if (!value.is_object()) return fail(event, "must be an object, found " + describe(value));
  if (!ours_ && value.empty()) return;  // viewers skip it
  const std::optional<char> phase = phase_of(value);
  const std::string ph = text_of(value, "ph");
  if (!ours_ && ph.size() == 1 && kOtherPhases.find(ph[0]) != std::string_view::npos) return;
  if (!phase) return fail(event, "ph must be one of X M C i s t f, found " + found(value, "ph"));
  const Json& args = member(value, "args");
  if (value.contains("args") && !args.is_object())
    return fail(event, "args must be an object, found " + describe(args));
  if (text_of(value, "name").empty() && (ours_ || *phase == 'M'))
    return fail(event, "name must be a string that is not empty, found " + found(value, "name"));
  if (*phase == 'M') {
    check_metadata(event);
    return;
  }
  for (const char* key : kForbiddenArgs)
    if (ours_ && args.contains(key))
      fail(event, fmt::format("args must not have the key '{}'", key));
  if (*phase == 'X' && ours_) {
    kernels_.add(event);
    has_step_ = has_step_ || is_step(value);
  }

  const std::optional<PlacedEvent> placed = this->placed(event, *phase);
  if (!placed) return;
  switch (*phase) {
    case 'X':
      return check_slice(event, *placed);
    case 'C':
      return check_counter(event);
    case 'i':
      return check_instant(event);
    default:
      // ends without a begin are the rule in Kineto's traces, and viewers skip them
      if (ours_) check_flow(event, *placed, *phase);
      return;
  }
}

bool EventRules::check_metadata(const ScannedEvent& event) {
  if (!ours_) return true;  // viewers skip what they don't know
  const std::string name = text_of(event.value, "name");
  if (std::find(std::begin(kMetadataNames), std::end(kMetadataNames), name) ==
      std::end(kMetadataNames)) {
    fail(event, fmt::format("viewers know no metadata called '{}'", name));
    return false;
  }
  const bool of_thread = name.starts_with("thread");
  return place(event, "pid") && (!of_thread || place(event, "tid"));
}

std::optional<Nanoseconds> EventRules::time(const ScannedEvent& event, const char* key,
                                            const std::string& text) {
  if (text.empty()) {
    fail(event, fmt::format("{} must be a number, found {}", key, found(event.value, key)));
    return std::nullopt;
  }
  const std::optional<Nanoseconds> time = parse_us(text);
  if (!time)
    fail(event,
         fmt::format("{} must be microseconds with at most three decimals, found {}", key, text));
  else if (*time < 0_ns)
    fail(event, fmt::format("{} must not be negative, found {}", key, text));
  else if (*time >= kLatest)
    fail(event, fmt::format("{} must be less than 2^53 ns, found {}", key, text));
  else
    return time;
  return std::nullopt;
}

std::optional<std::uint32_t> EventRules::place(const ScannedEvent& event, const char* key) {
  const auto id = whole_id(member(event.value, key), 1);
  if (!id)
    fail(event, fmt::format("{} must be a whole number from 1 to 4294967295, found {}", key,
                            found(event.value, key)));
  return id;
}

std::optional<std::uint32_t> EventRules::foreign_place(const ScannedEvent& event, const char* key) {
  const Json& value = member(event.value, key);
  if (value.is_string())
    return texts_.try_emplace(value.get<std::string>(), ~static_cast<std::uint32_t>(texts_.size()))
        .first->second;
  const auto id = whole_id(value, 0);
  if (!id)
    fail(event, fmt::format("{} is no whole number from 0 to 4294967295: viewers take 0, found {}",
                            key, found(event.value, key)));
  else if (*id == 0 && std::string_view(key) == "tid" && member(event.value, "pid") != 0)
    fail(event, "tid 0 is taken for the main thread of its process");
  return id;
}

std::optional<PlacedEvent> EventRules::placed(const ScannedEvent& event, char phase) {
  const auto ts = time(event, "ts", event.ts);
  const auto where = [&](const char* key) {
    return ours_ ? place(event, key) : foreign_place(event, key);
  };
  const auto pid = where("pid");
  const bool of_process = phase == 'C';
  const auto tid = of_process ? std::optional<std::uint32_t>(0) : where("tid");
  if (!ts || !pid || !tid) return std::nullopt;
  if (!ours_) return PlacedEvent{event.number, {*pid, *tid}, *ts};
  if (*pid == *tid) {
    fail(event, fmt::format("tid and pid are both {}, which marks a main thread", *pid));
    return std::nullopt;
  }
  const PlacedEvent placed{event.number, {*pid, *tid}, *ts};
  if (previous_ && previous_->ts > placed.ts) {
    fail(event, fmt::format("ts is before that of event {}", previous_->number));
    return std::nullopt;
  }
  previous_ = placed;
  return placed;
}

void EventRules::check_slice(const ScannedEvent& event, const PlacedEvent& placed) {
  const auto duration = time(event, "dur", event.dur);
  if (!duration) return;
  if (ours_)
    slices_.add(placed, *duration);
  else
    later_.push_back({placed, *duration});
}

void EventRules::check_flow(const ScannedEvent& event, const PlacedEvent& placed, char phase) {
  const auto id = whole_id(member(event.value, "id"), 0);
  if (!id)
    return fail(
        event, "id must be a whole number from 0 to 4294967295, found " + found(event.value, "id"));
  flows_.add(placed, phase, *id, text_of(event.value, "cat"), text_of(event.value, "name"),
             member(event.value, "bp") == "e");
}

void EventRules::check_counter(const ScannedEvent& event) {
  const Json& args = member(event.value, "args");
  if (args.empty()) return fail(event, "a counter needs args");
  for (const auto& [key, value] : args.items())
    if (!value.is_number())
      fail(event, fmt::format("counter '{}' must be a number, found {}", key, describe(value)));
}

void EventRules::check_instant(const ScannedEvent& event) {
  const std::string scope = text_of(event.value, "s");
  if (scope != "g" && scope != "p" && scope != "t")
    fail(event, "s must be one of g p t, found " + found(event.value, "s"));
}

void EventRules::finish() {
  if (!ours_) {
    std::stable_sort(later_.begin(), later_.end(), [](const LaterSlice& a, const LaterSlice& b) {
      return std::tie(a.placed.ts, b.duration) < std::tie(b.placed.ts, a.duration);
    });
    for (const LaterSlice& slice : later_) slices_.add(slice.placed, slice.duration);
    return;
  }
  flows_.finish();
  kernels_.finish();
  if (!has_step_) violations_.add("no user_annotation is called ProfilerStep#N");
}

}  // namespace amsp
