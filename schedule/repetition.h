#pragma once

#include <vector>

#include "schedule/task_graph.h"

namespace amsp {

/// Which micro-batches of a graph are copies of the one before: the same tasks in the same order,
/// with the same works, streams and dependencies, all of them one micro-batch later. Read off the
/// graph, so it holds whatever plan or engine made it.
///
/// Keeps a reference to the graph. O(tasks + dependencies).
class Repetition {
 public:
  explicit Repetition(const TaskGraph& graph);

  /// Micro-batches first() .. last() are copies; first() > last() if none is, or if more than one
  /// step of the graph has micro-batches.
  int first() const { return first_; }
  int last() const { return last_; }
  int batches() const { return static_cast<int>(by_batch_.size()); }
  /// Micro-batch of a task; -1 for what is done once a step.
  int batch(TaskId id) const { return (*graph_)[id].key.micro_batch; }
  const std::vector<TaskId>& tasks(int batch) const {
    return by_batch_[static_cast<std::size_t>(batch)];
  }
  /// The same task in another micro-batch; both are in first()-1 .. last().
  TaskId in_batch(TaskId id, int batch) const {
    return tasks(batch)[static_cast<std::size_t>(position_[index(id)])];
  }

 private:
  bool is_copy(int batch) const;
  bool same_dependencies(TaskId id, TaskId earlier) const;
  /// Whoever waits for a copy from outside waits for it in the last copy as well, which ends later
  /// since it is on the same stream.
  bool waits_for_the_last_only() const;

  const TaskGraph* graph_;
  std::vector<std::vector<TaskId>> by_batch_;  // in graph order
  std::vector<int> position_;                  // by task: in its micro-batch
  int first_ = 0, last_ = -1;
};

/// The tasks of a graph that are played: all, or all but micro-batches [from, to), as if the
/// later ones followed directly on from-1. Their dependencies on to-1 are then on from-1.
class Excerpt {
 public:
  explicit Excerpt(const TaskGraph& graph);
  /// `from` and `to` are both in repetition.first() .. last().
  Excerpt(const TaskGraph& graph, const Repetition& repetition, int from, int to);

  /// In order of ids.
  const std::vector<TaskId>& tasks() const { return tasks_; }
  int from() const { return from_; }
  int to() const { return to_; }
  /// Who is played in place of a task's dependency; TaskId{-1}: nobody, since the task waits for
  /// the same in a later micro-batch.
  TaskId stand_in(TaskId dependency) const;

 private:
  const Repetition* repetition_ = nullptr;  // null: all
  int from_ = 0, to_ = 0;
  std::vector<TaskId> tasks_;
};

}  // namespace amsp
