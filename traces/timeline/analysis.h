#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "traces/timeline/timeline.h"

namespace amsp {

/// Integer nanoseconds: the unit of traces, so that parts add up exactly.
using Nanoseconds = std::int64_t;
/// Nearest; ties to even. Every start and end is rounded on its own, durations are differences.
Nanoseconds to_ns(Seconds time);

/// How a collective is counted, by the role of its message:
///   param_gather (all-gather of parameters), grad_scatter (reduce-scatter of a gradient),
///   grad_reduce (bucket reductions over replicas), param_update (broadcast or all-gather after
///   the optimizer), grad_norm.
/// Derived from phase and op of the task key, as they also stand in traces; "" for compute.
std::string traffic_class(const TaskKey& key);
std::string traffic_class(std::string_view phase, std::string_view op);

/// One rank's window in half-open intervals of integer nanoseconds:
/// compute + exposed + idle = window exactly; exposed + overlapped = communication.
///
/// A collective counts as communication from the moment this rank is ready for it: its kernel
/// then sits on the stream, as in reality, even while it waits for late members. So waiting that
/// nothing hides is exposed communication, not idle; `waiting_by_class` says how much of the
/// communication was waiting.
struct RankBreakdown {
  Nanoseconds window = 0;
  Nanoseconds compute = 0;        // union of compute
  Nanoseconds communication = 0;  // union of communication
  Nanoseconds overlapped = 0;     // both
  Nanoseconds exposed = 0;        // communication without compute
  Nanoseconds idle = 0;
  /// By traffic class; the three maps have the same keys. exposed_by_class adds up to exposed
  /// exactly: every exposed nanosecond goes to the one active operation, or evenly to several
  /// (remainders to the first by task order).
  std::map<std::string, Nanoseconds> exposed_by_class;
  std::map<std::string, Nanoseconds> total_by_class;    // sum of durations in the window
  std::map<std::string, Nanoseconds> waiting_by_class;  // of that, waiting for late members

  bool operator==(const RankBreakdown&) const = default;
};

/// One task on one rank, as written to traces, in nanoseconds since the run began.
///   compute:    [start, end) of its span
///   collective: from when this rank is ready to the end of the group; the first `wait` of it
///               passes before the last member is ready
/// Measured timelines may be out of step by their clocks' noise: a span that starts before its
/// rank is ready counts from there.
struct TraceEvent {
  TaskId task;
  Nanoseconds start, end;
  Nanoseconds wait = 0;
};
/// All events of the rank in graph order, the tail of the step before the window and what ends
/// after it included. Markers and tasks of no duration are left out.
std::vector<TraceEvent> all_events(const Timeline& timeline, Rank rank);
/// Those that touch the rank's window, not clipped.
std::vector<TraceEvent> rank_events(const Timeline& timeline, Rank rank);

/// Takes O(tasks * log(tasks)).
RankBreakdown break_down(const Timeline& timeline, Rank rank);
/// The same from events with absolute times and a window (also for traces read back). Give them
/// in task order: it decides who gets the remainders.
struct ClassifiedEvent {
  Nanoseconds start, end, wait;
  std::string traffic;  // empty: compute
};
RankBreakdown break_down(const std::vector<ClassifiedEvent>& events, Nanoseconds begin,
                         Nanoseconds end);

/// A piece of the critical path: consecutive segments tile the window exactly.
struct PathSegment {
  TaskId task;  // TaskId{-1}: nothing ran (idle)
  Rank rank;
  Nanoseconds start, end;
  std::string kind;  // "compute", a traffic class, or "idle"
};
/// Walks back from the end of the window: from a task to the dependency (or stream predecessor,
/// or group member's dependency) that finished last, ties to the smaller task id, then rank.
/// From the latest rank's window_end mark to the latest window_begin; in order of time. Of a
/// collective the path has the transfer; what came before is the path of its last member.
/// A step costs O(dependencies), of a collective as much for each member whose times differ.
std::vector<PathSegment> critical_path(const Timeline& timeline);
std::map<std::string, Nanoseconds> path_by_kind(const std::vector<PathSegment>& path);

}  // namespace amsp
