#include <algorithm>
#include <set>

#include "core/error.h"
#include "traces/analysis.h"

namespace amsp {
namespace {

struct Edge {
  Nanoseconds time;
  int event;
  bool opens;
};

/// Sweeps over the edges in order of time and counts every stretch between two of them.
class Sweep {
 public:
  Sweep(const std::vector<ClassifiedEvent>& events, RankBreakdown& sums)
      : events_(events), sums_(sums) {}

  void run(std::vector<Edge> edges) {
    std::sort(edges.begin(), edges.end(),
              [](const Edge& a, const Edge& b) { return a.time < b.time; });
    Nanoseconds now = 0;  // nothing is open before the first edge
    for (const Edge& edge : edges) {
      if (edge.time > now) count(edge.time - now);
      now = edge.time;
      apply(edge);
    }
  }

 private:
  void apply(const Edge& edge) {
    if (events_[static_cast<std::size_t>(edge.event)].traffic.empty())
      computing_ += edge.opens ? 1 : -1;
    else if (edge.opens)
      communicating_.insert(edge.event);
    else
      communicating_.erase(edge.event);
  }

  void count(Nanoseconds length) {
    if (computing_ > 0) sums_.compute += length;
    if (communicating_.empty()) return;
    sums_.communication += length;
    if (computing_ > 0)
      sums_.overlapped += length;
    else
      expose(length);
  }

  void expose(Nanoseconds length) {
    sums_.exposed += length;
    const auto sharers = static_cast<Nanoseconds>(communicating_.size());
    Nanoseconds share = length / sharers + length % sharers;
    for (const int event : communicating_) {
      sums_.exposed_by_class[events_[static_cast<std::size_t>(event)].traffic] += share;
      share = length / sharers;
    }
  }

  const std::vector<ClassifiedEvent>& events_;
  RankBreakdown& sums_;
  int computing_ = 0;            // open compute events
  std::set<int> communicating_;  // open communication events, in task order
};

}  // namespace

RankBreakdown break_down(const std::vector<ClassifiedEvent>& events, Nanoseconds begin,
                         Nanoseconds end) {
  AMSP_CHECK(begin <= end, "the window ends at {} ns, before its begin at {} ns", end, begin);
  RankBreakdown sums;
  sums.window = end - begin;
  std::vector<Edge> edges;
  edges.reserve(2 * events.size());
  for (std::size_t i = 0; i < events.size(); ++i) {
    const ClassifiedEvent& event = events[i];
    const Nanoseconds from = std::max(event.start, begin);
    const Nanoseconds to = std::min(event.end, end);
    if (from >= to) continue;
    edges.push_back({from, static_cast<int>(i), true});
    edges.push_back({to, static_cast<int>(i), false});
    if (event.traffic.empty()) continue;
    const Nanoseconds joined = std::clamp(event.start + event.wait, from, to);
    sums.total_by_class[event.traffic] += to - from;
    sums.waiting_by_class[event.traffic] += joined - from;
    sums.exposed_by_class[event.traffic] += 0;  // so that the three maps have the same keys
  }
  Sweep(events, sums).run(std::move(edges));
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
