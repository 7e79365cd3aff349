#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "schedule/task_graph.h"

namespace amsp {

/// A process group as PyTorch lists it.
struct ProcessGroup {
  std::int64_t number;  // 0 is the world; unique, the same on all ranks
  std::string description;
  std::vector<Rank> ranks;
};

/// The process groups behind the communicators of a graph, numbered as PyTorch would: the world,
/// then every group of the first communication stream, of the second, and so on. Two streams
/// with the same mesh are two communicators.
class ProcessGroups {
 public:
  explicit ProcessGroups(const TaskGraph& graph);

  /// Whose communicator the collective uses on this rank.
  const ProcessGroup& group(TaskId collective, Rank rank) const;
  /// Counts the collectives of a communicator from 1, in issue order.
  int sequence(TaskId collective) const { return sequence_[index(collective)]; }
  /// The groups with one of these ranks, by number; the world comes first.
  std::vector<const ProcessGroup*> groups(const std::vector<Rank>& ranks) const;

 private:
  const ProcessGroup& group(const StreamSpec& stream, std::size_t id, Rank rank) const;

  const TaskGraph& graph_;
  std::vector<ProcessGroup> groups_;
  std::vector<std::size_t> first_group_;  // by stream; unused for compute
  std::vector<int> sequence_;             // by task; 0 for what is no collective
};

/// "[0, 1, 2]"; past 30 entries "[0, 1, (to the 30th), ...]", as Kineto cuts it.
std::string kineto_list(const std::vector<Rank>& ranks);

}  // namespace amsp
