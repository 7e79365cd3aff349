#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/units.h"
#include "training/model.h"

namespace amsp {

/// A group of gradients that is reduced over replicas in one message.
struct Bucket {
  std::vector<TensorId> tensors;
  Bytes bytes{0};
};

/// Cuts gradients into buckets in the order in which the backward makes them. A bucket closes
/// when it holds >= `limit` bytes; a tensor of >= `limit` goes alone; the last may be partial.
/// `bytes` of a tensor are those of the local shard: gradient bytes * ceil(elements / s_p).
std::vector<Bucket> gradient_buckets(const std::vector<Tensor>& tensors,
                                     const std::vector<TensorId>& backward_order,
                                     int gradient_bytes, int parameter_ways, Bytes limit);

/// One bucket a block: what a block's gradients are together, in the order in which they are made.
std::vector<Bucket> block_buckets(const std::vector<Tensor>& tensors,
                                  const std::vector<TensorId>& backward_order, int gradient_bytes,
                                  int parameter_ways);

}  // namespace amsp
