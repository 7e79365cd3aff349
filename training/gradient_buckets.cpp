#include "training/gradient_buckets.h"

#include <utility>

namespace amsp {

namespace {

Bytes shard_bytes(const Tensor& tensor, int gradient_bytes, int parameter_ways) {
  return Bytes{gradient_bytes * ((tensor.elements + parameter_ways - 1) / parameter_ways)};
}

}  // namespace

std::vector<Bucket> block_buckets(const std::vector<Tensor>& tensors,
                                  const std::vector<TensorId>& backward_order, int gradient_bytes,
                                  int parameter_ways) {
  std::vector<Bucket> buckets;
  int block = -1;
  for (const TensorId id : backward_order) {
    const Tensor& tensor = tensors[static_cast<std::size_t>(id)];
    if (buckets.empty() || tensor.block != block) buckets.emplace_back();
    block = tensor.block;
    buckets.back().tensors.push_back(id);
    buckets.back().bytes += shard_bytes(tensor, gradient_bytes, parameter_ways);
  }
  return buckets;
}

std::vector<Bucket> gradient_buckets(const std::vector<Tensor>& tensors,
                                     const std::vector<TensorId>& backward_order,
                                     int gradient_bytes, int parameter_ways, Bytes limit) {
  std::vector<Bucket> buckets;
  Bucket open;
  const auto close = [&] {
    if (!open.tensors.empty()) buckets.push_back(std::exchange(open, Bucket{}));
  };
  for (const TensorId id : backward_order) {
    const Bytes bytes =
        shard_bytes(tensors[static_cast<std::size_t>(id)], gradient_bytes, parameter_ways);
    if (bytes >= limit) close();
    open.tensors.push_back(id);
    open.bytes += bytes;
    if (open.bytes >= limit) close();
  }
  close();
  return buckets;
}

}  // namespace amsp
