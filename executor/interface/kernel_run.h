#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace amsp {

/// A kernel, copy or fill, as it ran on a device.
struct KernelRun {
  std::string task;  // the label of its stream when it was enqueued
  std::string name;
  std::int64_t start_ns, end_ns;  // of the rank's monotonic clock, as Event::time_ns()
};

struct KernelRuns {
  std::vector<KernelRun> runs;  // in no order
  /// Runs that the device's profiler counted but could not keep, or has no times of.
  std::int64_t lost = 0;
  /// Runs whose launch the profiler didn't report, or that were launched for no stream of ours.
  std::int64_t without_task = 0;
};

}  // namespace amsp
