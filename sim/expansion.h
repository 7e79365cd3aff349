#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "lowering/lowering.h"
#include "sim/workload.h"
#include "traces/timeline.h"

namespace amsp {

/// A task graph written out for every rank: one activity per compute task and rank, one per
/// collective and process group.
struct Expansion {
  Workload workload;
  std::vector<int> first_activity;                    // by task
  std::vector<std::shared_ptr<const LaneMap>> lanes;  // by stream: rank -> activity offset
  std::vector<int> lane_counts;                       // by stream

  int activity(TaskId task, StreamId stream, Rank rank) const {
    return first_activity[index(task)] +
           (*lanes[static_cast<std::size_t>(stream)])[static_cast<std::size_t>(rank)];
  }
};

/// Throws ConfigError for a task that takes longer alone than kLongestActivity, and for more than
/// kMostActivities.
Expansion expand(const Lowering& lowering);

/// SimGrid's payloads are 64-bit integers of 1e-15 s.
constexpr Seconds kLongestActivity{9000};
/// About 100 bytes each.
constexpr std::int64_t kMostActivities = 50'000'000;

}  // namespace amsp
