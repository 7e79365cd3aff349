#pragma once

#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <cstdint>

#include "executor/cuda/kernels/kernels.h"

/// Shared memory whose size the launch gives.
extern __shared__ __align__(128) unsigned char amsp_dynamic_shared[];

/// What the kernels share: element types, sums over a block, launching. Kernels that use a barrier
/// let every thread of the block reach it.
namespace amsp::cuda {

using Bf16 = __nv_bfloat16;

template <class T>
struct WideOf {
  using Type = float;
};
template <>
struct WideOf<double> {
  using Type = double;
};
template <class T>
using Wide = typename WideOf<T>::Type;

__device__ inline float widen(Bf16 x) {
  return __bfloat162float(x);
}
__device__ inline float widen(float x) {
  return x;
}
__device__ inline double widen(double x) {
  return x;
}

/// Rounds to nearest, ties to even.
template <class T>
__device__ inline T narrow(double x) {
  return static_cast<T>(x);
}
template <class T>
__device__ inline T narrow(float x) {
  return static_cast<T>(x);
}
template <>
__device__ inline Bf16 narrow<Bf16>(float x) {
  return __float2bfloat16_rn(x);
}
template <>
__device__ inline Bf16 narrow<Bf16>(double x) {
  return __double2bfloat16(x);
}

__device__ inline float exp_of(float x) {
  return expf(x);
}
__device__ inline double exp_of(double x) {
  return exp(x);
}
__device__ inline float log_of(float x) {
  return logf(x);
}
__device__ inline double log_of(double x) {
  return log(x);
}
__device__ inline float sqrt_of(float x) {
  return sqrtf(x);
}
__device__ inline double sqrt_of(double x) {
  return sqrt(x);
}

constexpr int kWarp = 32;
constexpr int kThreads = 256;
constexpr unsigned kAllLanes = 0xffffffffu;

/// Sum (or maximum) over the block of kThreads threads, the same on all of them, in a fixed order.
struct Sum {
  template <class T>
  __device__ static T apply(T a, T b) {
    return a + b;
  }
};
struct Max {
  template <class T>
  __device__ static T apply(T a, T b) {
    return a > b ? a : b;
  }
};
template <class Op, class T>
__device__ T over_block(T value) {
  static __shared__ T by_warp[kThreads / kWarp];
  for (int step = kWarp / 2; step > 0; step /= 2)
    value = Op::apply(value, __shfl_xor_sync(kAllLanes, value, step));
  __syncthreads();  // an earlier call may still be reading
  if (threadIdx.x % kWarp == 0) by_warp[threadIdx.x / kWarp] = value;
  __syncthreads();
  T all = by_warp[0];
  for (int i = 1; i < kThreads / kWarp; ++i) all = Op::apply(all, by_warp[i]);
  return all;
}

/// First element and distance of a loop over all threads of the grid.
__device__ inline std::int64_t grid_thread() {
  return std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
}
__device__ inline std::int64_t grid_threads() {
  return std::int64_t{gridDim.x} * blockDim.x;
}

template <class... Parameters, class... Arguments>
cudaError_t launch_kernel(void (*kernel)(Parameters...), dim3 grid, dim3 block,
                          std::size_t shared_bytes, cudaStream_t stream, Arguments... arguments) {
  if (shared_bytes > 48 * 1024) {
    const cudaError_t status = cudaFuncSetAttribute(
        kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared_bytes));
    if (status != cudaSuccess) return status;
  }
  cudaLaunchConfig_t config = {};
  config.gridDim = grid;
  config.blockDim = block;
  config.dynamicSmemBytes = shared_bytes;
  config.stream = stream;
  return cudaLaunchKernelEx(&config, kernel, static_cast<Parameters>(arguments)...);
}
/// A loop over `n` elements by grid_thread(); nothing for n = 0.
template <class... Parameters, class... Arguments>
cudaError_t launch_over(std::int64_t n, void (*kernel)(Parameters...), cudaStream_t stream,
                        Arguments... arguments) {
  constexpr std::int64_t kMaxBlocks = 1 << 16;
  if (n == 0) return cudaSuccess;
  const std::int64_t blocks = (n + kThreads - 1) / kThreads;
  return launch_kernel(kernel,
                       dim3(static_cast<unsigned>(blocks < kMaxBlocks ? blocks : kMaxBlocks)),
                       dim3(kThreads), 0, stream, arguments...);
}

template <class T>
struct Tag {
  using Type = T;
};
/// f(Tag<element type>), or cudaErrorInvalidValue.
template <class F>
cudaError_t by_type(DType type, F f) {
  switch (type) {
    case DType::kBf16:
      return f(Tag<Bf16>{});
    case DType::kF32:
      return f(Tag<float>{});
    case DType::kF64:
      return f(Tag<double>{});
    case DType::kI32:
      break;
  }
  return cudaErrorInvalidValue;
}
/// f(Tag<storage type>, Tag<type of gradients>): the pairs of CudaDevice::require.
template <class F>
cudaError_t by_types(DType type, DType grad_type, F f) {
  if (type == DType::kBf16 && grad_type == DType::kBf16) return f(Tag<Bf16>{}, Tag<Bf16>{});
  if (type == DType::kBf16 && grad_type == DType::kF32) return f(Tag<Bf16>{}, Tag<float>{});
  if (type == DType::kF32 && grad_type == DType::kF32) return f(Tag<float>{}, Tag<float>{});
  if (type == DType::kF64 && grad_type == DType::kF64) return f(Tag<double>{}, Tag<double>{});
  return cudaErrorInvalidValue;
}

}  // namespace amsp::cuda
