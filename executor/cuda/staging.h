#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>

namespace amsp::cuda {

/// Copies between pageable memory of the host and the device that don't block the caller: CUDA
/// itself would wait for the stream. They pass through pinned buffers, which are used again.
/// Copies of more than kLargest bytes go directly, and may block. Thread-safe.
class Staging {
 public:
  static constexpr std::size_t kLargest = std::size_t{64} << 20;

  Staging() : pool_(std::make_shared<Pool>()) {}
  /// Buffers of copies that are still on their way then are not freed.
  ~Staging();
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;

  /// `host` is read before the call returns.
  void upload(cudaStream_t stream, void* to, const void* host, std::size_t bytes);
  /// `host` is written when the stream gets there.
  void download(cudaStream_t stream, void* host, const void* from, std::size_t bytes);

 private:
  /// Outlives this object while copies are on their way. Doesn't free: its last owner may be a
  /// thread that must not call CUDA.
  struct Pool {
    std::mutex mutex;
    std::multimap<std::size_t, void*> free;  // by size
  };
  struct Copy;
  static void CUDART_CB finish(void* copy);
  void* take(std::size_t& bytes);

  std::shared_ptr<Pool> pool_;
};

}  // namespace amsp::cuda
