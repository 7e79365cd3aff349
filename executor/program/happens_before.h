#pragma once

#include <vector>

#include "schedule/task_graph.h"

namespace amsp {

/// Which tasks of a graph have ended before another starts, whatever the machine: by its
/// dependencies and the order of streams. Vector clocks: O(tasks x streams) to build and keep.
class HappensBefore {
 public:
  explicit HappensBefore(const TaskGraph& graph);

  /// True if `first` has ended on this rank before `then` starts.
  bool operator()(TaskId first, TaskId then) const {
    const std::size_t stream = stream_[index(first)];
    return position_[index(first)] <= clock_[index(then) * streams_ + stream];
  }

 private:
  std::size_t streams_;
  std::vector<std::size_t> stream_;  // by task
  std::vector<int> position_;        // by task: on its stream, from 1
  std::vector<int> clock_;           // by task and stream: the last position that has ended
};

}  // namespace amsp
