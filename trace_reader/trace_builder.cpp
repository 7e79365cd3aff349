// Over 400 lines: one pass over the events of a file; its parts share what was read so far.
#include "trace_reader/trace_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <tuple>

#include "core/json/json.h"
#include "traces/terms/traffic_class.h"

namespace amsp {
namespace {

std::string number_text(const ScalarValue& value) {
  return value.kind == ValueKind::kMissing ? std::string() : value.text;
}

/// The number at the end of a text such as "stream 7"; 0 if there is none.
std::int64_t trailing_number(std::string_view text) {
  const auto last = text.find_last_of("0123456789");
  if (last == std::string_view::npos) return 0;
  auto first = last;
  while (first > 0 && text[first - 1] >= '0' && text[first - 1] <= '9') --first;
  if (first > 0 && text[first - 1] == '-') --first;
  std::int64_t value = 0;
  std::from_chars(text.data() + first, text.data() + last + 1, value);
  return value;
}

bool is_kernel(std::string_view cat) {
  return cat == "kernel" || cat == "Kernel";
}
bool is_copy(std::string_view cat) {
  return cat == "gpu_memcpy" || cat == "gpu_memset" || cat == "Memcpy" || cat == "Memset";
}
bool is_call(std::string_view cat) {
  return cat == "cuda_runtime" || cat == "cuda_driver" || cat == "Runtime" ||
         cat == "privateuse1_runtime" || cat == "xpu_runtime";
}

std::string event_place(const RawEvent& event) {
  return fmt::format("event {} \"{}\"", event.number,
                     event.name.size() > 60 ? event.name.substr(0, 60) : event.name);
}

}  // namespace

std::int32_t TraceBuilder::Interner::id(std::string_view text) {
  const auto found = ids_.find(text);
  if (found != ids_.end()) return found->second;
  texts_.emplace_back(text);
  const auto id = static_cast<std::int32_t>(texts_.size()) - 1;
  ids_.emplace(texts_.back(), id);
  return id;
}

TraceBuilder::Part& TraceBuilder::part(const RawEvent& event) {
  if (ranks_.empty()) return parts_[""];
  const auto found = ranks_.find(event.pid.text);
  return parts_[found == ranks_.end() ? "" : found->second];
}

void TraceBuilder::add_metadata(const RawEvent& event) {
  if (event.name != "process_name") return;
  const std::string_view name = event.text(Arg::kName);
  constexpr std::string_view kRank = "rank ";
  if (!name.starts_with(kRank)) return;
  const auto blank = name.find(' ', kRank.size());
  const std::string_view rest = blank == std::string_view::npos ? "" : name.substr(blank + 1);
  if (rest != "GPU" && rest != "host") return;
  const std::string rank(name.substr(kRank.size(), blank - kRank.size()));
  if (!rank.empty() && rank.find_first_not_of("0123456789") == std::string::npos)
    ranks_[event.pid.text] = rank;
}

void TraceBuilder::add(const RawEvent& event) {
  if (event.ph == "M") return add_metadata(event);
  Part& part = this->part(event);
  if (event.ph == "X") return add_slice(event, part);
  if (event.ph == "C" || event.ph == "i" || event.ph == "I") return;
  if (number_text(event.ts) == "0") part.trace.quarantined.add("time 0", event_place(event));
}

bool TraceBuilder::has_time(const RawEvent& event, Part& part, Nanoseconds& start,
                            Nanoseconds& end) {
  Notes& notes = part.trace.quarantined;
  const auto ts = parse_microseconds(number_text(event.ts));
  if (!ts) {
    notes.add("no time", event_place(event));
    return false;
  }
  const auto duration = parse_microseconds(number_text(event.dur));
  if (!duration) {
    notes.add("no duration", event_place(event));
    return false;
  }
  constexpr Nanoseconds kFar = std::numeric_limits<Nanoseconds>::max() / 4;
  if (*duration < 0_ns) {
    notes.add("negative duration", event_place(event));
    return false;
  }
  if (*ts > kFar || *ts < -kFar || *duration > kFar) {
    notes.add("time out of range", event_place(event));
    return false;
  }
  start = *ts;
  end = *ts + *duration;
  return true;
}

void TraceBuilder::add_slice(const RawEvent& event, Part& part) {
  const bool kernel = is_kernel(event.cat), copy = is_copy(event.cat);
  Nanoseconds start, end;
  if (kernel || copy) {
    if (has_time(event, part, start, end)) add_gpu(event, part, start, end, copy);
    return;
  }
  if (is_call(event.cat)) {
    if (event.arg(Arg::kCorrelation) != nullptr && has_time(event, part, start, end))
      add_launch(event, part, start, end);
    return;
  }
  if (event.name == "record_param_comms") {
    const auto id = event.integer(Arg::kExternalId);
    if (id && !event.text(Arg::kCollectiveName).empty()) part.calls[*id] = call_args(event);
    return;
  }
  constexpr std::string_view kStep = "ProfilerStep#";
  if (event.name.starts_with(kStep) && event.cat != "gpu_user_annotation") {
    const auto number = parse_integer(std::string_view(event.name).substr(kStep.size()));
    if (number && has_time(event, part, start, end))
      part.trace.steps.push_back({*number, start, end});
    return;
  }
  if (event.cat == "gpu_user_annotation" && event.name.starts_with("nccl:")) {
    const std::int64_t stream =
        event.integer(Arg::kStream).value_or(trailing_number(event.tid.text));
    if (has_time(event, part, start, end))
      part.annotations.push_back({stream, start, end, event.name});
  }
}

void TraceBuilder::add_launch(const RawEvent& event, Part& part, Nanoseconds start,
                              Nanoseconds end) {
  const auto correlation = event.integer(Arg::kCorrelation);
  if (!correlation) return;
  part.trace.launches.push_back({*correlation, start, end, part.texts.id(event.name)});
  if (const auto external = event.integer(Arg::kExternalId))
    part.external_of.emplace_back(*correlation, *external);
}

TraceBuilder::CallArgs TraceBuilder::call_args(const RawEvent& event) {
  CallArgs call;
  call.name = event.text(Arg::kCollectiveName);
  call.dtype = event.text(Arg::kDtype);
  call.group = event.text(Arg::kGroupName);
  call.description = event.text(Arg::kGroupDescription);
  call.ranks = event.text(Arg::kGroupRanks);
  call.in = event.integer(Arg::kInElements).value_or(-1);
  call.out = event.integer(Arg::kOutElements).value_or(-1);
  call.size = event.integer(Arg::kGroupSize).value_or(0);
  call.seq = event.integer(Arg::kSeq).value_or(-1);
  return call;
}

void TraceBuilder::add_collective(Part& part, GpuEvent& event, const CallArgs& call,
                                  std::string kind) {
  Collective collective;
  collective.op = collective_op(call.name);
  collective.kind = kind.empty() ? collective.op : std::move(kind);
  const bool described = !call.description.empty() && call.description != "undefined";
  collective.group = described ? call.description : call.group.empty() ? "-" : call.group;
  collective.members = call.group;
  if (!call.ranks.empty()) collective.members += " " + call.ranks;
  collective.group_size = static_cast<int>(std::clamp<std::int64_t>(call.size, 0, 1 << 30));
  const int size = element_bytes(call.dtype);
  const std::int64_t elements = std::max(call.in, call.out);
  constexpr std::int64_t kMostElements = std::int64_t{1} << 56;
  if (size > 0 && elements >= 0 && elements < kMostElements) collective.bytes = elements * size;
  collective.seq = call.seq;
  event.activity = Activity::kCommunication;
  event.collective = static_cast<std::int32_t>(part.trace.collectives.size());
  part.trace.collectives.push_back(std::move(collective));
}

void TraceBuilder::add_gpu(const RawEvent& event, Part& part, Nanoseconds start, Nanoseconds end,
                           bool copies) {
  GpuEvent gpu;
  gpu.start = start;
  gpu.end = end;
  gpu.stream = event.integer(Arg::kStream).value_or(trailing_number(event.tid.text));
  gpu.correlation = event.integer(Arg::kCorrelation).value_or(-1);
  gpu.name = part.texts.id(event.name);
  const auto text = [&](Arg arg) {
    const std::string_view value = event.text(arg);
    return value.empty() ? -1 : part.texts.id(value);
  };
  gpu.key = text(Arg::kKey);
  gpu.layer = text(Arg::kLayer);
  gpu.module = text(Arg::kModule);
  gpu.phase = text(Arg::kPhase);
  gpu.op = text(Arg::kOp);
  if (const std::string_view deps = event.text(Arg::kDeps); !deps.empty()) {
    const Json list = Json::parse(deps, nullptr, false);
    std::vector<std::int64_t> ids;
    if (list.is_array())
      for (const Json& id : list)
        if (id.is_number_integer()) ids.push_back(id);
    gpu.deps = static_cast<std::int32_t>(part.trace.deps.size());
    part.trace.deps.push_back(std::move(ids));
  }
  if (copies) {
    gpu.activity = Activity::kMemory;
    gpu.evidence = Evidence::kCategory;
    if (const auto bytes = event.integer(Arg::kBytes))
      gpu.bytes_or_shape = part.texts.id(std::to_string(*bytes));
    part.trace.events.push_back(gpu);
    return;
  }
  const std::string shape = fmt::format("{}x{}", event.text(Arg::kGrid), event.text(Arg::kBlock));
  if (shape != "x") gpu.bytes_or_shape = part.texts.id(shape);
  const std::string traffic = traffic_class(event.text(Arg::kPhase), event.text(Arg::kOp));
  CallArgs call = call_args(event);
  if (gpu.key >= 0 && !event.text(Arg::kPhase).empty() && !event.text(Arg::kOp).empty()) {
    gpu.evidence = Evidence::kTaskKey;
    if (!traffic.empty()) {
      if (call.name.empty()) call.name = event.text(Arg::kOp);
      add_collective(part, gpu, call, traffic);
      Collective& collective = part.trace.collectives.back();
      if (const std::string_view group = event.text(Arg::kGroup); !group.empty())
        collective.group = group;
      if (const auto wait = event.integer(Arg::kWait); wait && *wait >= 0)
        collective.wait = Nanoseconds{*wait};
    }
  } else if (!call.name.empty()) {
    gpu.evidence = Evidence::kArguments;
    add_collective(part, gpu, call, "");
  } else if (const auto external = event.integer(Arg::kExternalId)) {
    part.external_of_kernel.emplace_back(*external,
                                         static_cast<std::int32_t>(part.trace.events.size()));
  }
  part.trace.events.push_back(gpu);
}

/// What needs the whole file: linked calls, annotations; then names.
void TraceBuilder::classify_late(Part& part) {
  RankTrace& trace = part.trace;
  std::sort(part.external_of.begin(), part.external_of.end());
  std::vector<std::int64_t> external(trace.events.size(), -1);
  for (const auto& [id, event] : part.external_of_kernel)
    external[static_cast<std::size_t>(event)] = id;
  std::map<std::int64_t, std::vector<const Range*>> ranges;  // by stream
  std::sort(part.annotations.begin(), part.annotations.end(),
            [](const Range& a, const Range& b) { return a.start < b.start; });
  for (const Range& range : part.annotations) ranges[range.stream].push_back(&range);

  const auto linked = [&](std::size_t i) -> const CallArgs* {
    const GpuEvent& event = trace.events[i];
    const auto pair = std::lower_bound(part.external_of.begin(), part.external_of.end(),
                                       std::pair(event.correlation, std::int64_t{-1} << 62));
    if (event.correlation >= 0 && pair != part.external_of.end() &&
        pair->first == event.correlation)
      if (const auto call = part.calls.find(pair->second); call != part.calls.end())
        return &call->second;
    const auto call = part.calls.find(external[i]);
    return external[i] < 0 || call == part.calls.end() ? nullptr : &call->second;
  };
  const auto annotated = [&](const GpuEvent& event) -> const Range* {
    const auto on_stream = ranges.find(event.stream);
    if (on_stream == ranges.end()) return nullptr;
    const auto after =
        std::upper_bound(on_stream->second.begin(), on_stream->second.end(), event.start,
                         [](Nanoseconds time, const Range* range) { return time < range->start; });
    if (after == on_stream->second.begin()) return nullptr;
    const Range* range = *std::prev(after);
    return range->end >= event.end ? range : nullptr;
  };
  for (std::size_t i = 0; i < trace.events.size(); ++i) {
    GpuEvent& event = trace.events[i];
    if (event.evidence != Evidence::kDefault) continue;
    const std::string& name = trace.texts[static_cast<std::size_t>(event.name)];
    const auto user = rules_.verdict(name);
    if (const CallArgs* call = linked(i)) {
      add_collective(part, event, *call, "");
      event.evidence = Evidence::kLinkedCall;
    } else if (const Range* range = annotated(event)) {
      CallArgs named;
      named.name = range->name;
      add_collective(part, event, named, "");
      event.evidence = Evidence::kAnnotation;
    } else if (const auto verdict = user ? user : known_kernel(name)) {
      event.activity = verdict->activity;
      event.evidence = user ? Evidence::kUserRule : Evidence::kName;
      if (verdict->activity == Activity::kCommunication) {
        CallArgs named;
        named.name = verdict->op;
        named.group = verdict->group;
        add_collective(part, event, named, "");
      }
    }
  }
}

/// In traces of Kineto time 0 stands for "unknown": kernels that began before the session. In ours
/// it is the origin.
void TraceBuilder::set_aside_zero_times(Part& part, bool own_schema) {
  RankTrace& trace = part.trace;
  if (own_schema) return;
  Nanoseconds first = std::numeric_limits<Nanoseconds>::max();
  Nanoseconds last = std::numeric_limits<Nanoseconds>::min();
  const auto stretch = [&](Nanoseconds start, Nanoseconds end) {
    if (start == 0_ns) return;
    first = std::min(first, start);
    last = std::max(last, end);
  };
  for (const GpuEvent& event : trace.events) stretch(event.start, event.end);
  for (const Launch& launch : trace.launches) stretch(launch.start, launch.end);
  for (const StepMark& step : trace.steps) stretch(step.begin, step.end);
  if (first > last) return;
  std::erase_if(trace.events, [&](const GpuEvent& event) {
    const bool unknown =
        event.start == 0_ns && (event.end == 0_ns || first - event.end > last - first);
    if (unknown) trace.quarantined.add("time 0", "kernel " + trace.text(event.name));
    return unknown;
  });
}

/// Events days away from the others (clocks that jumped, marks of "never") stretch every window.
void TraceBuilder::set_aside_far_times(Part& part) {
  static constexpr Nanoseconds kFar{std::int64_t{1} << 49};  // 6.5 days
  RankTrace& trace = part.trace;
  std::vector<Nanoseconds> starts;
  for (const GpuEvent& event : trace.events) starts.push_back(event.start);
  if (starts.empty())
    for (const StepMark& step : trace.steps) starts.push_back(step.begin);
  if (starts.empty()) return;
  const auto middle = starts.begin() + static_cast<std::ptrdiff_t>(starts.size() / 2);
  std::nth_element(starts.begin(), middle, starts.end());
  const auto is_far = [center = *middle](Nanoseconds start, Nanoseconds end) {
    return start < center - kFar || end > center + kFar;
  };
  std::erase_if(trace.events, [&](const GpuEvent& event) {
    const bool far = is_far(event.start, event.end);
    if (far) trace.quarantined.add("days away from all others", trace.text(event.name));
    return far;
  });
  std::erase_if(trace.steps, [&](const StepMark& step) {
    const bool far = is_far(step.begin, step.end);
    if (far)
      trace.quarantined.add("days away from all others",
                            fmt::format("ProfilerStep#{}", step.number));
    return far;
  });
  std::erase_if(trace.launches, [&](const Launch& launch) {
    const bool far = is_far(launch.start, launch.end);
    if (far)
      trace.quarantined.add("days away from all others", "launch " + trace.text(launch.name));
    return far;
  });
}

void TraceBuilder::order(Part& part) {
  RankTrace& trace = part.trace;
  const auto by_time = [](const GpuEvent& a, const GpuEvent& b) {
    return std::tie(a.start, b.end) < std::tie(b.start, a.end);
  };
  if (!std::is_sorted(trace.events.begin(), trace.events.end(), by_time))
    std::stable_sort(trace.events.begin(), trace.events.end(), by_time);
  std::stable_sort(trace.launches.begin(), trace.launches.end(),
                   [](const Launch& a, const Launch& b) { return a.correlation < b.correlation; });
  std::stable_sort(trace.steps.begin(), trace.steps.end(),
                   [](const StepMark& a, const StepMark& b) { return a.begin < b.begin; });
  std::map<std::int64_t, std::pair<Nanoseconds, std::int32_t>> busy;  // by stream
  for (const GpuEvent& event : trace.events) {
    auto& [until, name] = busy.try_emplace(event.stream, event.start, event.name).first->second;
    if (event.start < until && event.start < event.end)
      trace.doubts.add("kernels overlap on one stream",
                       fmt::format("stream {}: {} and {}", event.stream, trace.text(name),
                                   trace.text(event.name)));
    if (event.end > until) until = event.end, name = event.name;
    const Launch* launch = event.correlation < 0 ? nullptr : trace.launch(event.correlation);
    if (launch != nullptr && event.start < launch->start)
      trace.doubts.add("kernel starts before its launch (clock skew)",
                       fmt::format("{}: launch latency {:.3f} us", trace.text(event.name),
                                   static_cast<double>((event.start - launch->start).value) / 1e3));
  }
}

std::vector<RankTrace> TraceBuilder::finish(const StreamOutcome& outcome) {
  if (parts_.empty()) parts_[""];
  if (parts_.size() > 1) {  // what belongs to no rank of a merged file
    const auto rest = parts_.find("");
    if (rest != parts_.end() && rest->second.trace.events.empty()) parts_.erase(rest);
  }
  const auto number = [](const Json& object, const char* key) -> std::optional<std::int64_t> {
    if (!object.is_object() || !object.contains(key)) return std::nullopt;
    const Json& value = object[key];
    if (value.is_number_integer()) return value.get<std::int64_t>();
    if (value.is_string()) return parse_integer(value.get_ref<const std::string&>());
    return std::nullopt;
  };
  const bool own_schema = number(outcome.metadata, "semantic_schema") == 1;
  std::vector<RankTrace> result;
  for (auto& [name, part] : parts_) {
    RankTrace& trace = part.trace;
    trace.own_schema = own_schema;
    trace.has_keys = std::any_of(trace.events.begin(), trace.events.end(),
                                 [](const GpuEvent& event) { return event.key >= 0; });
    trace.simulated =
        outcome.metadata.is_object() && outcome.metadata.value("source", Json()) == "sim";
    trace.clock_offset = {number(outcome.metadata, "offset_ns").value_or(0)};
    trace.device = outcome.device_name;
    trace.world_size = static_cast<int>(std::clamp<std::int64_t>(
        number(outcome.distributed, "world_size").value_or(0), 0, 1 << 30));
    const auto stated = number(outcome.distributed, "rank");
    if (!name.empty()) {
      const auto parsed = parse_integer(name);
      if (parsed && *parsed < std::numeric_limits<int>::max()) {
        trace.rank = static_cast<int>(*parsed);
        trace.rank_source = "process names";
      }
    } else if (stated && *stated >= 0 && *stated < std::numeric_limits<int>::max()) {
      trace.rank = static_cast<int>(*stated);
      trace.rank_source = "distributedInfo";
    }
    trace.texts = part.texts.take();
    set_aside_zero_times(part, own_schema);
    set_aside_far_times(part);
    classify_late(part);
    order(part);
    if (outcome.base != 0_ns) {
      for (GpuEvent& event : trace.events) event.start += outcome.base, event.end += outcome.base;
      for (Launch& launch : trace.launches)
        launch.start += outcome.base, launch.end += outcome.base;
      for (StepMark& step : trace.steps) step.begin += outcome.base, step.end += outcome.base;
    }
    result.push_back(std::move(trace));
  }
  return result;
}

}  // namespace amsp
