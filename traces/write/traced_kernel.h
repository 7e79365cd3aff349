#pragma once

#include <map>
#include <string>
#include <vector>

#include "traces/timeline/analysis.h"

namespace amsp {

/// A kernel, copy or fill that a task launched, as a profiler saw it.
struct TracedKernel {
  std::string name;
  Nanoseconds start;  // on the clock of the timeline, whose spans begin at 0
  Nanoseconds duration;
};
/// What one rank's tasks launched: by task of the graph, in order of start.
using RankKernels = std::vector<std::vector<TracedKernel>>;
using TracedKernels = std::map<Rank, RankKernels>;

}  // namespace amsp
