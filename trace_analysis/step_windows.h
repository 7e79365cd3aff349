#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trace_reader/rank_trace.h"

namespace amsp {

/// What counts as one step's time on a rank.
enum class WindowChoice {
  kAuto,  // kHost if our own schema, or no launches are known, or the GPU keeps up with the host;
          // else kGpu
  kHost,  // the host's ProfilerStep markers
  kGpu,   // from the first GPU event that a step launched to the first of the next step; the last
          // one ends with its last GPU event
};

struct StepWindow {
  std::int64_t number;  // of the marker; never used to align traces
  Nanoseconds begin, end;
};

/// The steps of a rank that can be analysed, in order, and in words what was done.
struct RankWindows {
  std::string kind;                   // "host steps", "GPU steps", "all GPU events"
  std::vector<StepWindow> steps;      // disjoint
  std::vector<std::string> excluded;  // "ProfilerStep#3: no GPU work in it"
};

/// Without step markers there is one implicit step, from the first GPU event to the last. A step
/// without GPU work is excluded, and the last of several if the file is incomplete.
RankWindows step_windows(const RankTrace& trace, WindowChoice choice, bool file_incomplete);

}  // namespace amsp
