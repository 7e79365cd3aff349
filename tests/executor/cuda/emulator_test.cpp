#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "cuda_runtime.h"
#include "executor/cuda/kernels/kernel_support.cuh"
#include "executor/cuda/kernels/mma.cuh"

// The emulator must notice what a GPU would get wrong, or it proves nothing.
namespace amsp::cuda {
namespace {

void reverse(int* out, bool barrier) {
  static int shared[64];
  shared[threadIdx.x] = static_cast<int>(threadIdx.x);
  if (barrier) __syncthreads();
  out[threadIdx.x] = shared[63 - threadIdx.x];
  __syncthreads();
  shared[threadIdx.x] = -1;
}

std::vector<int> run_reverse(bool barrier, bool descending) {
  emulator::set_thread_order(descending);
  std::vector<int> out(64);
  launch_kernel(reverse, dim3(1), dim3(64), 0, nullptr, out.data(), barrier);
  emulator::set_thread_order(false);
  return out;
}

TEST(CudaEmulator, BarriersOrderSharedMemoryAndTheirLackShows) {
  std::vector<int> expected(64);
  std::iota(expected.rbegin(), expected.rend(), 0);
  run_reverse(true, false);
  EXPECT_EQ(run_reverse(true, false), expected);
  EXPECT_EQ(run_reverse(true, true), expected);
  EXPECT_NE(run_reverse(false, false), expected);
  EXPECT_NE(run_reverse(false, false), run_reverse(false, true));
}

void barrier_for_half() {
  if (threadIdx.x < 32) __syncthreads();
}
void exchange_of_half() {
  if (threadIdx.x < 16) __shfl_xor_sync(kAllLanes, 1.0f, 1);
}

TEST(CudaEmulator, ThrowsWhereThreadsWaitForOthersThatDoNotCome) {
  EXPECT_THROW(launch_kernel(barrier_for_half, dim3(1), dim3(64), 0, nullptr), std::runtime_error);
  EXPECT_THROW(launch_kernel(exchange_of_half, dim3(1), dim3(32), 0, nullptr), std::runtime_error);
}

void sum_of_block(float* out) {
  const float sum = over_block<Sum>(static_cast<float>(threadIdx.x));
  if (threadIdx.x == kThreads - 1) *out = sum;
}

TEST(CudaEmulator, SumsOverABlock) {
  float out = 0;
  launch_kernel(sum_of_block, dim3(1), dim3(kThreads), 0, nullptr, &out);
  EXPECT_EQ(out, 255 * 256 / 2);
}

/// Fragments filled by the words of the PTX manual: for register i of A, row = g for registers 0
/// and 2, else g + 8; column = 2 t (+ 1 for the upper half), + 8 from register 2 on; and so on.
void multiply(const float* a, const float* b, float* c) {
  const unsigned g = threadIdx.x / 4, t = threadIdx.x % 4;
  const auto pair = [](float low, float high) {
    return static_cast<unsigned>(__bfloat16_as_ushort(__float2bfloat16_rn(low))) |
           static_cast<unsigned>(__bfloat16_as_ushort(__float2bfloat16_rn(high))) << 16;
  };
  FragmentA fa;
  for (unsigned i = 0; i < 4; ++i) {
    const unsigned row = i == 0 || i == 2 ? g : g + 8;
    const unsigned column = 2 * t + (i < 2 ? 0 : 8);
    fa.x[i] = pair(a[row * 16 + column], a[row * 16 + column + 1]);
  }
  FragmentB fb;
  for (unsigned i = 0; i < 2; ++i) {
    const unsigned row = 2 * t + (i < 1 ? 0 : 8);
    fb.x[i] = pair(b[row * 8 + g], b[(row + 1) * 8 + g]);
  }
  FragmentC fc = {};
  mma(fc, fa, fb);
  for (unsigned i = 0; i < 4; ++i) c[(i < 2 ? g : g + 8) * 8 + 2 * t + i % 2] = fc.x[i];
}

TEST(CudaEmulator, MultipliesTensorCoreFragmentsAsThePtxManualLaysThemOut) {
  std::vector<float> a(256), b(128), c(128), expected(128);
  for (int i = 0; i < 256; ++i) a[i] = static_cast<float>(i * 7 % 16);
  for (int i = 0; i < 128; ++i) b[i] = static_cast<float>(i * 5 % 8 - 3);
  for (int i = 0; i < 16; ++i)
    for (int j = 0; j < 8; ++j)
      for (int k = 0; k < 16; ++k) expected[i * 8 + j] += a[i * 16 + k] * b[k * 8 + j];
  launch_kernel(multiply, dim3(1), dim3(32), 0, nullptr, a.data(), b.data(), c.data());
  EXPECT_EQ(c, expected);
}

}  // namespace
}  // namespace amsp::cuda
