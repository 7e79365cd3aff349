#include <algorithm>

#include "core/error.h"
#include "traces/terms/sweep.h"
#include "traces/timeline/analysis.h"

namespace amsp {
RankBreakdown break_down(const std::vector<ClassifiedEvent>& events, Nanoseconds begin,
                         Nanoseconds end) {
  AMSP_CHECK(begin <= end, "the window ends at {} ns, before its begin at {} ns", end.value,
             begin.value);
  RankBreakdown sums;
  sums.window = end - begin;
  std::vector<BusyInterval> intervals;
  intervals.reserve(events.size());
  for (const ClassifiedEvent& event : events) {
    const Nanoseconds from = std::max(event.start, begin);
    const Nanoseconds to = std::min(event.end, end);
    intervals.push_back({from, to, event.traffic.empty() ? Busy::kCompute : Busy::kCommunication});
    if (from >= to || event.traffic.empty()) continue;
    const Nanoseconds joined = std::clamp(event.start + event.wait, from, to);
    sums.total_by_class[event.traffic] += to - from;
    sums.waiting_by_class[event.traffic] += joined - from;
    sums.exposed_by_class[event.traffic] += 0_ns;  // so that the three maps have the same keys
  }
  sweep(intervals, [&](const Stretch& stretch) {
    const Nanoseconds length = stretch.end - stretch.begin;
    if (stretch.computing) sums.compute += length;
    if (stretch.communicating.empty()) return;
    sums.communication += length;
    if (stretch.computing) {
      sums.overlapped += length;
      return;
    }
    sums.exposed += length;
    share_out(length, stretch.communicating, [&](int event, Nanoseconds share) {
      sums.exposed_by_class[events[static_cast<std::size_t>(event)].traffic] += share;
    });
  });
  sums.idle = sums.window - sums.compute - sums.exposed;
  return sums;
}

RankBreakdown break_down(const Timeline& timeline, Rank rank) {
  const TaskGraph& graph = timeline.graph();
  std::vector<ClassifiedEvent> events;
  for (const TraceEvent& event : rank_events(timeline, rank)) {
    const Task& task = graph[event.task];
    events.push_back({event.start, event.end, event.wait, traffic_class(task.key)});
    AMSP_CHECK(events.back().traffic.empty() == (task.kind == WorkKind::kCompute),
               "the key '{}' does not say what the task does", graph.key(event.task));
  }
  return break_down(events, to_ns(timeline.window_begin(rank)), to_ns(timeline.window_end(rank)));
}

}  // namespace amsp
