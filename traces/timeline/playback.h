#pragma once

#include <cstddef>
#include <vector>

#include "core/units.h"
#include "traces/timeline/timeline.h"

namespace amsp {

/// A task graph played on a simulated cluster: when what ran, and how much of it was simulated.
struct Playback {
  Timeline timeline;
  std::size_t activities = 0;
  int rank_classes = 0;                 // ranks that were told apart
  int batches_played = 0;               // micro-batches; the others repeat them
  std::vector<Seconds> jittered_steps;  // step times under jitter, in order of the draws
};

}  // namespace amsp
