#pragma once

#include <vector>

#include "core/units.h"
#include "executor/interface/communicator.h"
#include "executor/interface/device.h"
#include "executor/interface/world.h"

namespace amsp {

struct TimerRules {
  int warm_up = 3;
  int least_repetitions = 10;
  int most_repetitions = 200;
  Seconds enough{0.2};  // of repetitions, within these bounds
};

/// A collective as it was timed: in repetitions, the time from the last member's start to the last
/// member's end; the slowest group counts.
struct CollectiveTiming {
  Bytes bytes;
  Seconds median, p10, p90;
  int repetitions = 0;
};

/// Times one operation on one family of groups, for each size: by the first group while the others
/// idle, or by all groups at once (`together`). Messages are EvenMessages. All ranks of dp call it
/// with the same arguments; all get the same result. Needs ranks that share a monotonic clock.
std::vector<CollectiveTiming> time_collective(World& world, Fabric& fabric, Device& device,
                                              CollectiveKind kind, const SubMesh& mesh, Mesh dp,
                                              DType type, bool together,
                                              const std::vector<Bytes>& sizes,
                                              const TimerRules& rules = {});

}  // namespace amsp
