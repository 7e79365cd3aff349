#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <memory>
#include <mutex>

namespace amsp::cuda {

/// Maps the device's clock to the host's CLOCK_MONOTONIC. The two drift apart (tens of microseconds
/// a second), and elapsed times come as float milliseconds (about 0.1 us after one second), so the
/// base is renewed often. Thread-safe.
class Clock {
 public:
  /// A point of both clocks.
  class Base {
   public:
    Base();
    ~Base();
    Base(const Base&) = delete;
    Base& operator=(const Base&) = delete;
    cudaEvent_t event = nullptr;
    std::int64_t host_ns = 0;
  };

  /// Takes the first base, on a stream of its own.
  Clock();
  ~Clock();
  Clock(const Clock&) = delete;
  Clock& operator=(const Clock&) = delete;

  /// The newest base. Takes a new one first if it's older than 100 ms; that waits for the device's
  /// front end, some 10 us, but not for other streams.
  std::shared_ptr<const Base> base();
  /// Nanoseconds of CLOCK_MONOTONIC at `event`, which has been reached.
  static std::int64_t time_ns(const Base& base, cudaEvent_t event);

 private:
  std::shared_ptr<const Base> take();

  cudaStream_t stream_ = nullptr;
  std::mutex mutex_;
  std::shared_ptr<const Base> base_;
};

/// Now, in nanoseconds of CLOCK_MONOTONIC.
std::int64_t host_now_ns();

}  // namespace amsp::cuda
