#pragma once

// Runs CUDA kernels on the CPU, unchanged: a source of kernels is compiled as C++ with this folder
// first in the include path. Every thread of a block is a fiber; a barrier or an exchange between
// the lanes of a warp switches to the others, in the order that set_thread_order() chose. Blocks
// run one after the other. What it can't show: real memory ordering, speed, and the layout of
// tensor-core fragments beyond what executor/cuda/kernels/mma.cuh says here.
//
// Broken rules throw std::runtime_error from the launch: a barrier that not all threads reach, an
// exchange that not all lanes join, more shared memory than was asked for or exists.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>

#include "cuda_runtime_api.h"

#define __global__
#define __device__
#define __shared__
#define __launch_bounds__(threads)
#define __align__(bytes) __attribute__((aligned(bytes)))

struct dim3 {
  unsigned x = 1, y = 1, z = 1;
  dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1)  // NOLINT: as CUDA has it
      : x(x_), y(y_), z(z_) {}
};
struct alignas(16) uint4 {
  unsigned x, y, z, w;
};
extern dim3 threadIdx, blockIdx, blockDim, gridDim;

struct cudaLaunchConfig_t {
  dim3 gridDim, blockDim;
  std::size_t dynamicSmemBytes = 0;
  cudaStream_t stream = nullptr;
};
enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize };
enum cudaMemcpyKind { cudaMemcpyDeviceToDevice };

namespace emulator {

/// Threads of a block run in ascending order between barriers, or in descending order. A kernel
/// whose results differ lacks a barrier.
void set_thread_order(bool descending);

void allow_shared(const void* kernel, std::size_t bytes);
void launch(const cudaLaunchConfig_t& config, const void* kernel,
            const std::function<void()>& thread);
void block_barrier();
/// Gives `bytes` of `mine` to the other lanes of the warp and returns what lane `from` gave. Valid
/// until this thread's next but one exchange.
void exchange(const void* mine, std::size_t bytes);
const void* given_by(unsigned lane);
int any_in_block(int vote);

}  // namespace emulator

inline void __syncthreads() {
  emulator::block_barrier();
}
inline int __syncthreads_or(int vote) {
  return emulator::any_in_block(vote);
}

template <class T>
T __shfl_xor_sync(unsigned, T value, int mask) {
  emulator::exchange(&value, sizeof(T));
  T other;
  std::memcpy(&other, emulator::given_by(threadIdx.x % 32 ^ static_cast<unsigned>(mask)),
              sizeof(T));
  return other;
}

template <class Kernel>
cudaError_t cudaFuncSetAttribute(Kernel* kernel, cudaFuncAttribute, int bytes) {
  emulator::allow_shared(reinterpret_cast<const void*>(kernel), static_cast<std::size_t>(bytes));
  return cudaSuccess;
}
template <class... Parameters, class... Arguments>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config, void (*kernel)(Parameters...),
                               Arguments... arguments) {
  emulator::launch(*config, reinterpret_cast<const void*>(kernel), [&] { kernel(arguments...); });
  return cudaSuccess;
}
inline cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind,
                                   cudaStream_t) {
  std::memcpy(to, from, bytes);
  return cudaSuccess;
}
