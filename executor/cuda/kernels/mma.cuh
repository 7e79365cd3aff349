#pragma once

#include <cuda_bf16.h>

/// One 16 x 8 x 16 product of a warp on tensor cores, bf16 with fp32 accumulation (PTX ISA, "matrix
/// fragments for mma.m16n8k16"). With g = lane / 4 and t = lane % 4 a lane holds, two elements a
/// register, the lower column (of B: row) in the lower half:
///   A[16, 16]: rows g, g + 8, g, g + 8 at columns 2t, 2t, 2t + 8, 2t + 8
///   B[16, 8]:  column g at rows 2t, 2t + 8
///   C[16, 8]:  row g at columns 2t, 2t + 1, then row g + 8
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

/// c += a b. All lanes of the warp call it.
__device__ inline void mma(FragmentC& c, const FragmentA& a, const FragmentB& b) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(c.x[0]), "+f"(c.x[1]), "+f"(c.x[2]), "+f"(c.x[3])
      : "r"(a.x[0]), "r"(a.x[1]), "r"(a.x[2]), "r"(a.x[3]), "r"(b.x[0]), "r"(b.x[1]));
}

}  // namespace amsp::cuda
