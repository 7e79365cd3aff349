#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "executor/cuda/kernels/kernels.h"

namespace amsp::cuda {

/// Cuts every part into pieces of at most kPartChunk elements, in order: a block's work each.
template <class Part>
std::vector<PartChunk> chunks_of(std::span<const Part> parts) {
  std::vector<PartChunk> chunks;
  for (std::size_t i = 0; i < parts.size(); ++i)
    for (std::int64_t first = 0; first < parts[i].n; first += kPartChunk)
      chunks.push_back({first, static_cast<std::int32_t>(i),
                        static_cast<std::int32_t>(std::min(kPartChunk, parts[i].n - first))});
  return chunks;
}

}  // namespace amsp::cuda
