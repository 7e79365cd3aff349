#pragma once

#include <atomic>
#include <mutex>
#include <utility>
#include <vector>

#include "executor/interface/kernel_run.h"

namespace amsp {

/// What the streams of a host device ran, once it is switched on. Thread-safe.
class HostKernelRecorder {
 public:
  void start() { on_.store(true, std::memory_order_relaxed); }
  bool on() const { return on_.load(std::memory_order_relaxed); }
  void add(KernelRun run) {
    const std::lock_guard lock(mutex_);
    runs_.push_back(std::move(run));
  }
  /// All that was added since the last call.
  std::vector<KernelRun> take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(runs_, {});
  }

 private:
  std::atomic<bool> on_ = false;
  std::mutex mutex_;
  std::vector<KernelRun> runs_;
};

}  // namespace amsp
