#include <algorithm>

#include "executor/host/kernels/blas.h"
#include "executor/host/kernels/kernels.h"
#include "executor/host/kernels/number.h"
#include "executor/host/kernels/scratch.h"
#include "executor/host/kernels/vector_code.h"

namespace amsp::host {
namespace {

// Blocks of a bf16 product, in elements of C and of the inner dimension: converting a block costs
// little against the product, and the blocks of both factors and of C fit into 8 MiB.
constexpr std::int64_t kBlock = 1024;
constexpr std::int64_t kInnerBlock = 512;

template <typename To, typename From>
AMSP_VECTOR_CLONES void convert_block(std::int64_t rows, std::int64_t columns, const From* from,
                                      std::int64_t from_stride, To* to, std::int64_t to_stride) {
  for (std::int64_t row = 0; row < rows; ++row) {
    const From* source = from + row * from_stride;
    To* target = to + row * to_stride;
    for (std::int64_t i = 0; i < columns; ++i) target[i] = round_to<To>(widen(source[i]));
  }
}

/// A factor of a bf16 product, block by block as fp32, in the order in which it is stored.
struct Factor {
  const Bf16* data;
  std::int64_t stride;
  bool transpose;
  float* block;
  std::int64_t block_stride;

  /// Rows and columns are those of op(factor).
  void load(std::int64_t row, std::int64_t rows, std::int64_t column, std::int64_t columns) {
    if (transpose) {
      std::swap(row, column);
      std::swap(rows, columns);
    }
    block_stride = columns;
    convert_block(rows, columns, data + row * stride + column, stride, block, block_stride);
  }
};

/// c of float is added to in place; one of Bf16 is kept in fp32 until it is complete, and rounded
/// once.
template <typename C>
void gemm_bf16(const Gemm& work) {
  constexpr bool kInPlace = std::is_same_v<C, float>;
  Scratch scratch;
  Factor a{static_cast<const Bf16*>(work.a), work.a_stride, work.transpose_a,
           scratch.take<float>(kBlock * kInnerBlock), 0};
  Factor b{static_cast<const Bf16*>(work.b), work.b_stride, work.transpose_b,
           scratch.take<float>(kBlock * kInnerBlock), 0};
  float* const sums = kInPlace ? nullptr : scratch.take<float>(kBlock * kBlock);
  for (std::int64_t row = 0; row < work.m; row += kBlock) {
    const std::int64_t rows = std::min(kBlock, work.m - row);
    for (std::int64_t column = 0; column < work.n; column += kBlock) {
      const std::int64_t columns = std::min(kBlock, work.n - column);
      C* const c = static_cast<C*>(work.c) + row * work.c_stride + column;
      float* const sum = [&] {
        if constexpr (kInPlace)
          return c;
        else
          return sums;
      }();
      const std::int64_t sum_stride = kInPlace ? work.c_stride : columns;
      if (work.accumulate && !kInPlace)
        convert_block(rows, columns, c, work.c_stride, sum, sum_stride);
      for (std::int64_t inner = 0; inner < std::max<std::int64_t>(work.k, 1);
           inner += kInnerBlock) {
        const std::int64_t inners = std::min(kInnerBlock, work.k - inner);
        a.load(row, rows, inner, inners);
        b.load(inner, inners, column, columns);
        const float beta = inner > 0 || work.accumulate ? 1.0F : 0.0F;
        gemm(a.transpose, b.transpose, rows, columns, inners, a.block, a.block_stride, b.block,
             b.block_stride, beta, sum, sum_stride);
      }
      if (!kInPlace) convert_block(rows, columns, sum, sum_stride, c, work.c_stride);
    }
  }
}

template <typename T>
void gemm_wide(const Gemm& work) {
  gemm(work.transpose_a, work.transpose_b, work.m, work.n, work.k, static_cast<const T*>(work.a),
       work.a_stride, static_cast<const T*>(work.b), work.b_stride, work.accumulate ? T(1) : T(0),
       static_cast<T*>(work.c), work.c_stride);
}

}  // namespace

void run(const Gemm& work) {
  with_types(work.type, work.c_type, [&](auto type, auto c_type) {
    using T = decltype(type);
    if constexpr (std::is_same_v<T, Bf16>)
      gemm_bf16<decltype(c_type)>(work);
    else
      gemm_wide<T>(work);
  });
}

}  // namespace amsp::host
