#include "schedule/gradient_buckets.h"

#include <utility>

namespace amsp {

std::vector<Bucket> gradient_buckets(const std::vector<Tensor>& tensors,
                                     const std::vector<TensorId>& backward_order,
                                     int gradient_bytes, int parameter_ways, Bytes limit) {
  std::vector<Bucket> buckets;
  Bucket open;
  const auto close = [&] {
    if (!open.tensors.empty()) buckets.push_back(std::exchange(open, Bucket{}));
  };
  for (const TensorId id : backward_order) {
    const std::int64_t elements = tensors[static_cast<std::size_t>(id)].elements;
    const Bytes bytes{gradient_bytes * ((elements + parameter_ways - 1) / parameter_ways)};
    if (bytes >= limit) close();
    open.tensors.push_back(id);
    open.bytes += bytes;
    if (open.bytes >= limit) close();
  }
  close();
  return buckets;
}

}  // namespace amsp
