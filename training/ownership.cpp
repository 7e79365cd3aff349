#include "training/ownership.h"

#include <algorithm>
#include <numeric>
#include <queue>

namespace amsp {

namespace {

std::int64_t slice(const Tensor& tensor, int ways) {
  return (tensor.elements + ways - 1) / ways;
}

/// Whole slices, largest first, onto the owner with least so far.
void assign_greedily(const std::vector<Tensor>& tensors, int ways, Ownership& result) {
  std::vector<TensorId> order(tensors.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](TensorId a, TensorId b) {
    return tensors[static_cast<std::size_t>(a)].elements >
           tensors[static_cast<std::size_t>(b)].elements;
  });
  using Load = std::pair<std::int64_t, std::size_t>;  // elements so far, owner
  std::priority_queue<Load, std::vector<Load>, std::greater<>> least;
  for (std::size_t owner = 0; owner < result.parts.size(); ++owner) least.push({0, owner});
  for (const TensorId id : order) {
    const std::int64_t size = slice(tensors[static_cast<std::size_t>(id)], ways);
    auto [load, owner] = least.top();
    least.pop();
    result.parts[owner].push_back({id, size});
    least.push({load + size, owner});
  }
  for (auto& parts : result.parts)
    std::sort(parts.begin(), parts.end(),
              [](const OwnedPart& a, const OwnedPart& b) { return a.tensor < b.tensor; });
}

/// The flattened slices, cut into equal ranges (the last ones may be shorter).
void cut_evenly(const std::vector<Tensor>& tensors, int ways, Ownership& result) {
  std::int64_t total = 0;
  for (const Tensor& tensor : tensors) total += slice(tensor, ways);
  const auto owners = static_cast<std::int64_t>(result.parts.size());
  const std::int64_t share = (total + owners - 1) / owners;
  std::int64_t position = 0;
  for (TensorId id = 0; id < static_cast<TensorId>(tensors.size()); ++id) {
    std::int64_t left = slice(tensors[static_cast<std::size_t>(id)], ways);
    while (left > 0) {
      const std::int64_t owner = position / share;
      const std::int64_t part = std::min(left, (owner + 1) * share - position);
      result.parts[static_cast<std::size_t>(owner)].push_back({id, part});
      position += part;
      left -= part;
    }
  }
}

}  // namespace

Ownership assign_owners(const std::vector<Tensor>& tensors, const ShardingPlan& plan,
                        OsSharding sharding) {
  Ownership result;
  const auto owners = static_cast<std::size_t>(plan.os.size() / plan.p.size());
  result.parts.resize(owners);
  if (sharding == OsSharding::kTensor) {
    assign_greedily(tensors, plan.p.size(), result);
  } else {
    cut_evenly(tensors, plan.p.size(), result);
  }
  std::int64_t total = 0;
  for (const auto& parts : result.parts) {
    std::int64_t sum = 0;
    for (const OwnedPart& part : parts) sum += part.elements;
    result.elements.push_back(sum);
    result.largest = std::max(result.largest, sum);
    total += sum;
  }
  result.imbalance = static_cast<double>(result.largest) * static_cast<double>(owners) /
                     static_cast<double>(total);
  return result;
}

}  // namespace amsp
