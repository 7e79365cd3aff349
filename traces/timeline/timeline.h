#pragma once

#include <memory>
#include <vector>

#include "core/units.h"
#include "schedule/task_graph.h"

namespace amsp {

/// When a task ran. Start of a collective is when its last member was ready.
struct Span {
  Seconds start;
  Seconds end;
};

/// Which of a task's recorded spans belongs to a rank: by rank, by process group, or by
/// symmetry class. Shared between tasks.
using LaneMap = std::vector<int>;  // by rank

/// When everything ran, simulated or real: for every task and rank, start and end. Times are
/// seconds since the run began. Invariant: end >= start >= 0.
class Timeline {
 public:
  /// Keeps a reference to the graph.
  explicit Timeline(const TaskGraph& graph);

  /// Reserves the spans of a task; called once for each, in order of ids.
  void add_task(std::shared_ptr<const LaneMap> lanes, int lane_count);
  Span& lane(TaskId id, int lane);
  const Span& span(TaskId id, Rank rank) const;
  int lane_count(TaskId id) const;
  /// For every rank the first rank whose spans are all the same as its own, by the lanes: alike
  /// ranks that were simulated once have one lane.
  std::vector<Rank> first_alike() const;

  const TaskGraph& graph() const { return *graph_; }
  int ranks() const { return graph_->dp.size(); }
  /// When `rank` had met all dependencies of the task, its stream's order included: the end of the
  /// last of them. A collective's wait is span().start - ready().
  Seconds ready(TaskId id, Rank rank) const;
  /// The window of one rank: end of the marks (TaskGraph::window_begin, window_end).
  Seconds window_begin(Rank rank) const;
  Seconds window_end(Rank rank) const;
  /// Latest window_end - latest window_begin over all ranks.
  Seconds step_time() const;

 private:
  const TaskGraph* graph_;
  std::vector<std::shared_ptr<const LaneMap>> lanes_;
  std::vector<std::size_t> first_span_ = {0};
  std::vector<Span> spans_;
};

}  // namespace amsp
