#pragma once

#include <cstdint>

#include "executor/host/kernels/number.h"
#include "executor/host/kernels/vector_code.h"

namespace amsp::host {

// Attention works on tiles of one head of one sequence: the rows of a block of queries against the
// columns of a block of keys, at or before them.
//
// Many keys to a tile, since a tile's products are faster the larger they are; fewer queries, since
// the part of the last tile above the diagonal is computed in vain.
constexpr std::int64_t kQueryBlock = 128;
constexpr std::int64_t kKeyBlock = 512;

/// to[rows, d], dense, = from[rows, d] * scale.
template <typename T>
AMSP_VECTOR_CLONES void load_head(std::int64_t rows, std::int64_t d, const T* from,
                                  std::int64_t stride, Wide<T> scale, Wide<T>* to) {
  for (std::int64_t row = 0; row < rows; ++row)
    for (std::int64_t i = 0; i < d; ++i) to[row * d + i] = widen(from[row * stride + i]) * scale;
}

/// The other way.
template <typename T>
AMSP_VECTOR_CLONES void store_head(std::int64_t rows, std::int64_t d, const Wide<T>* from,
                                   Wide<T> scale, T* to, std::int64_t stride) {
  for (std::int64_t row = 0; row < rows; ++row)
    for (std::int64_t i = 0; i < d; ++i)
      to[row * stride + i] = round_to<T>(from[row * d + i] * scale);
}

}  // namespace amsp::host
