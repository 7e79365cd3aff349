#include "executor/cuda/staging.h"

#include <bit>
#include <cstring>

#include "executor/cuda/check.h"

namespace amsp::cuda {

/// What remains to do when the stream has reached the end of a copy.
struct Staging::Copy {
  std::shared_ptr<Pool> pool;
  void* buffer;
  std::size_t buffer_bytes;
  void* host;  // null after an upload
  std::size_t bytes;
};

Staging::~Staging() {
  const std::lock_guard lock(pool_->mutex);
  for (const auto& [bytes, buffer] : pool_->free) cudaFreeHost(buffer);
  pool_->free.clear();
}

void* Staging::take(std::size_t& bytes) {
  constexpr std::size_t kSmallest = 4096;
  bytes = std::bit_ceil(std::max(bytes, kSmallest));
  {
    const std::lock_guard lock(pool_->mutex);
    if (const auto found = pool_->free.find(bytes); found != pool_->free.end()) {
      void* buffer = found->second;
      pool_->free.erase(found);
      return buffer;
    }
  }
  void* buffer = nullptr;
  check(cudaMallocHost(&buffer, bytes), "cudaMallocHost");
  return buffer;
}

// Runs on a thread of CUDA's, where no call of CUDA is allowed.
void CUDART_CB Staging::finish(void* copy) {
  const std::unique_ptr<Copy> done(static_cast<Copy*>(copy));
  if (done->host != nullptr) std::memcpy(done->host, done->buffer, done->bytes);
  const std::lock_guard lock(done->pool->mutex);
  done->pool->free.emplace(done->buffer_bytes, done->buffer);
}

void Staging::upload(cudaStream_t stream, void* to, const void* host, std::size_t bytes) {
  if (bytes == 0) return;
  if (bytes > kLargest) {
    check(cudaMemcpyAsync(to, host, bytes, cudaMemcpyHostToDevice, stream), "upload");
    return;
  }
  std::size_t buffer_bytes = bytes;
  void* buffer = take(buffer_bytes);
  std::memcpy(buffer, host, bytes);
  auto copy = std::make_unique<Copy>(Copy{pool_, buffer, buffer_bytes, nullptr, bytes});
  check(cudaMemcpyAsync(to, buffer, bytes, cudaMemcpyHostToDevice, stream), "upload");
  check(cudaLaunchHostFunc(stream, finish, copy.get()), "upload");
  copy.release();
}

void Staging::download(cudaStream_t stream, void* host, const void* from, std::size_t bytes) {
  if (bytes == 0) return;
  if (bytes > kLargest) {
    check(cudaMemcpyAsync(host, from, bytes, cudaMemcpyDeviceToHost, stream), "download");
    return;
  }
  std::size_t buffer_bytes = bytes;
  void* buffer = take(buffer_bytes);
  auto copy = std::make_unique<Copy>(Copy{pool_, buffer, buffer_bytes, host, bytes});
  check(cudaMemcpyAsync(buffer, from, bytes, cudaMemcpyDeviceToHost, stream), "download");
  check(cudaLaunchHostFunc(stream, finish, copy.get()), "download");
  copy.release();
}

}  // namespace amsp::cuda
