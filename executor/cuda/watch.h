#pragma once

#include <cuda_runtime_api.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <mutex>
#include <string>

namespace amsp::cuda {

/// Waiting for the device without waiting for ever. While a thread waits, it polls those who know
/// of failures that the device itself doesn't report: communicators, whose kernels spin until their
/// peers come. The first failure is kept: whoever waits or enqueues later fails with its text.
/// Thread-safe.
class Watch {
 public:
  /// A wait of more than `stall_timeout` is a failure.
  explicit Watch(std::chrono::milliseconds stall_timeout) : stall_timeout_(stall_timeout) {}

  struct Guard {
    /// Empty, or what failed.
    std::function<std::string()> failure;
    /// What is not finished, for the message of a time-out; may be empty.
    std::function<std::string()> unfinished;
    /// Ends the kernels that wait for peers. Called once, after a failure of any guard.
    std::function<void()> abort;
  };
  int add(Guard guard);
  /// The guard isn't running and won't be called once this returns.
  void remove(int id);

  /// Throws DeviceError if something failed earlier.
  void check() const;
  /// Fails everything: aborts, and throws DeviceError.
  [[noreturn]] void fail(const std::string& text);
  /// Returns when `query` gives cudaSuccess; cudaErrorNotReady means to ask again. Throws
  /// DeviceError on any other result, on a guard's failure, and after the time-out. `what` names
  /// the work that is waited for.
  void wait(const std::function<cudaError_t()>& query, const std::string& what);

 private:
  std::string failure_of_guards();

  const std::chrono::milliseconds stall_timeout_;
  std::atomic<bool> failed_ = false;
  mutable std::mutex mutex_;  // of all below
  std::string failure_;
  std::map<int, Guard> guards_;
  int next_id_ = 0;
};

}  // namespace amsp::cuda
