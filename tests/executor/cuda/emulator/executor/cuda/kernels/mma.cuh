#pragma once

#include "cuda_bf16.h"
#include "cuda_runtime.h"

/// executor/cuda/kernels/mma.cuh for the emulator: same names, same layout of fragments (PTX ISA,
/// "matrix fragments for mma.m16n8k16"), written out element by element.
namespace amsp::cuda {

struct FragmentA {
  unsigned x[4];
};
struct FragmentB {
  unsigned x[2];
};
struct FragmentC {
  float x[4];
};

namespace emulated {

struct Given {
  FragmentA a;
  FragmentB b;
};
inline float half_of(unsigned pair, unsigned which) {
  const std::uint32_t bits = which == 0 ? pair << 16 : pair & 0xffff0000u;
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}
/// A[row, k]: lane (row % 8) * 4 + (k % 8) / 2; the register counts rows, then columns, from 8 on.
inline float a_at(unsigned row, unsigned k) {
  const auto* given = static_cast<const Given*>(emulator::given_by(row % 8 * 4 + k % 8 / 2));
  return half_of(given->a.x[row / 8 + k / 8 * 2], k % 2);
}
/// B[k, column]: lane column * 4 + (k % 8) / 2.
inline float b_at(unsigned k, unsigned column) {
  const auto* given = static_cast<const Given*>(emulator::given_by(column * 4 + k % 8 / 2));
  return half_of(given->b.x[k / 8], k % 2);
}

}  // namespace emulated

inline void mma(FragmentC& c, const FragmentA& a, const FragmentB& b) {
  const emulated::Given mine = {a, b};
  emulator::exchange(&mine, sizeof(mine));
  const unsigned lane = threadIdx.x % 32;
  for (unsigned e = 0; e < 4; ++e) {
    const unsigned row = lane / 4 + e / 2 * 8;
    const unsigned column = lane % 4 * 2 + e % 2;
    for (unsigned k = 0; k < 16; ++k) c.x[e] += emulated::a_at(row, k) * emulated::b_at(k, column);
  }
}

}  // namespace amsp::cuda
