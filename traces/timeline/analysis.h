#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/units.h"
#include "traces/terms/traffic_class.h"
#include "traces/timeline/timeline.h"

namespace amsp {

/// As the phase and op of the key have it.
std::string traffic_class(const TaskKey& key);

/// One rank's window in half-open intervals of integer nanoseconds:
/// compute + exposed + idle = window exactly; exposed + overlapped = communication.
///
/// A collective counts as communication from the moment this rank is ready for it: its kernel
/// then sits on the stream, as in reality, even while it waits for late members. So waiting that
/// nothing hides is exposed communication, not idle; `waiting_by_class` says how much of the
/// communication was waiting.
struct RankBreakdown {
  Nanoseconds window;
  Nanoseconds compute;        // union of compute
  Nanoseconds communication;  // union of communication
  Nanoseconds overlapped;     // both
  Nanoseconds exposed;        // communication without compute
  Nanoseconds idle;
  /// By traffic class; the three maps have the same keys. exposed_by_class adds up to exposed
  /// exactly: every exposed nanosecond goes to the one active operation, or evenly to several
  /// (remainders to the first by task order).
  std::map<std::string, Nanoseconds> exposed_by_class;
  std::map<std::string, Nanoseconds> total_by_class;    // sum of durations in the window
  std::map<std::string, Nanoseconds> waiting_by_class;  // of that, waiting for late members

  bool operator==(const RankBreakdown&) const = default;
};

/// One task on one rank, as written to traces, in nanoseconds since the run began. Every start
/// and end is rounded on its own, durations are differences.
///   compute:    [start, end) of its span
///   collective: from when this rank is ready to the end of the group; the first `wait` of it
///               passes before the last member is ready
/// Measured timelines may be out of step by their clocks' noise: a span that starts before its
/// rank is ready counts from there.
struct TraceEvent {
  TaskId task;
  Nanoseconds start, end;
  Nanoseconds wait;
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
