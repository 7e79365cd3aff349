#include "traces/timeline/analysis.h"

#include <algorithm>

namespace amsp {

std::string traffic_class(const TaskKey& key) {
  return traffic_class(to_string(key.phase), to_string(key.op));
}

std::vector<TraceEvent> all_events(const Timeline& timeline, Rank rank) {
  const TaskGraph& graph = timeline.graph();
  std::vector<TraceEvent> events;
  for (int i = 0; i < graph.size(); ++i) {
    const TaskId id{i};
    const WorkKind kind = graph[id].kind;
    if (kind == WorkKind::kMarker) continue;
    const Span& span = timeline.span(id, rank);
    const Nanoseconds end = to_ns(span.end);
    const Nanoseconds ready = std::min(to_ns(timeline.ready(id, rank)), end);
    const Nanoseconds start = std::max(to_ns(span.start), ready);
    if (kind == WorkKind::kCollective) {
      if (ready < end) events.push_back({id, ready, end, start - ready});
    } else if (start < end) {
      events.push_back({id, start, end, 0_ns});
    }
  }
  return events;
}

std::vector<TraceEvent> rank_events(const Timeline& timeline, Rank rank) {
  const Nanoseconds begin = to_ns(timeline.window_begin(rank));
  const Nanoseconds end = to_ns(timeline.window_end(rank));
  std::vector<TraceEvent> events = all_events(timeline, rank);
  std::erase_if(events, [&](const TraceEvent& event) {
    return std::max(event.start, begin) >= std::min(event.end, end);
  });
  return events;
}

}  // namespace amsp
