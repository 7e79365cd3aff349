#include "traces/timeline/analysis.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "core/error.h"

namespace amsp {

Nanoseconds to_ns(Seconds time) {
  return std::llrint(time.value * 1e9);
}

std::string traffic_class(std::string_view phase, std::string_view op) {
  if (op == to_string(Op::kAllGather)) {
    const bool update = phase == to_string(Phase::kUpdate) || phase == to_string(Phase::kOptimizer);
    return update ? "param_update" : "param_gather";
  }
  if (op == to_string(Op::kReduceScatter))
    return phase == to_string(Phase::kGradSync) ? "grad_reduce" : "grad_scatter";
  if (op == to_string(Op::kAllReduce))
    return phase == to_string(Phase::kOptimizer) ? "grad_norm" : "grad_reduce";
  if (op == to_string(Op::kBroadcast)) return "param_update";
  return "";
}

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
      events.push_back({id, start, end, 0});
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
