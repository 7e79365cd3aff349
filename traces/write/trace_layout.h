#pragma once

#include <vector>

#include "traces/timeline/analysis.h"

namespace amsp {

/// What a slice of a trace shows.
enum class SliceKind {
  kStep,    // host: one training step; `task` is the mark that begins it
  kLaunch,  // host: the launch of a kernel
  kKernel,  // GPU
};

/// A bar of a trace before it becomes text.
struct Slice {
  Nanoseconds start;  // since the origin of the trace
  Nanoseconds duration;
  Nanoseconds wait;  // kKernel: see TraceEvent
  TaskId task;
  Rank rank;
  SliceKind kind;
};

/// All slices of these ranks in the order of the file: by start, longer first, so that parents
/// come before what they hold. Time 0 is the earliest of them.
///
/// The slices of one host thread nest or are disjoint, so the launches get out of each other's
/// way: a launch takes up to 1 us, ends where its kernel starts or earlier, and stays on the side
/// of a step's border on which its kernel starts (tools find a kernel's step by its launch).
/// Where that leaves no room it is of no duration.
std::vector<Slice> lay_out(const Timeline& timeline, const std::vector<Rank>& ranks);

}  // namespace amsp
