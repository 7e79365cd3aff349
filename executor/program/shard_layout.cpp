#include "executor/program/shard_layout.h"

#include "training/ownership.h"

namespace amsp {

namespace {

std::int64_t divide_up(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}

}  // namespace

ShardLayout::ShardLayout(const std::vector<Tensor>& tensors, const ShardingPlan& plan,
                         OsSharding sharding, Rank rank)
    : ways_(plan.p.size()),
      position_(group_position(sub_mesh(plan.p), plan.dp, rank).position),
      owner_(group_position(quotient(plan.os, plan.p), plan.dp, rank).position) {
  if (plan.p2) {
    secondary_ways_ = plan.p2->size();
    secondary_position_ = group_position(sub_mesh(*plan.p2), plan.dp, rank).position;
  }
  for (const Tensor& tensor : tensors) {
    elements_.push_back(tensor.elements);
    slices_.push_back(divide_up(tensor.elements, ways_));
  }
  const Ownership ownership = assign_owners(tensors, plan, sharding);
  owned_.assign(tensors.size(), std::vector<SliceRange>(ownership.parts.size()));
  std::vector<std::int64_t> cut(tensors.size(), 0);
  for (std::size_t owner = 0; owner < ownership.parts.size(); ++owner)
    for (const OwnedPart& part : ownership.parts[owner]) {
      const auto id = static_cast<std::size_t>(part.tensor);
      owned_[id][owner] = {cut[id], part.elements};
      cut[id] += part.elements;
    }
}

std::int64_t ShardLayout::secondary_slice(TensorId id) const {
  return divide_up(elements_[static_cast<std::size_t>(id)], secondary_ways_);
}

}  // namespace amsp
