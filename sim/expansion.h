#pragma once

#include <memory>
#include <vector>

#include "lowering/lowering.h"
#include "sim/workload.h"
#include "traces/timeline/timeline.h"

namespace amsp {

/// A task graph written out as activities: of every rank, or of one rank of each class.
struct Expansion {
  Workload workload;
  std::vector<int> first_activity;                    // by task
  std::vector<std::shared_ptr<const LaneMap>> lanes;  // by stream: rank -> activity offset
  std::vector<int> lane_counts;                       // by stream
  int rank_classes = 0;                               // ranks that are told apart

  int activity(TaskId task, StreamId stream, Rank rank) const {
    return first_activity[index(task)] +
           (*lanes[static_cast<std::size_t>(stream)])[static_cast<std::size_t>(rank)];
  }
};

/// Every rank: one activity per compute task and rank, one per collective and process group.
Expansion expand(const Lowering& lowering);

}  // namespace amsp
