#pragma once

#include <cstdint>
#include <vector>

#include "training/engine_policy.h"
#include "training/model.h"
#include "training/plan.h"

namespace amsp {

/// A contiguous part of a tensor's slice that one owner updates.
struct OwnedPart {
  TensorId tensor;
  std::int64_t elements;
};

/// Who updates what: every tensor is sliced s_p ways; the slices of one shard are distributed
/// over its s_os/s_p owners. `tensor`: whole slices by greedy balance, largest first onto the
/// owner with least so far (ties: lower owner), so that per-tensor scales stay with one owner.
/// `flat`: the flattened slices cut evenly, as DeepSpeed and FSDP do.
struct Ownership {
  /// By owner (position in the os/p group), in tensor order.
  std::vector<std::vector<OwnedPart>> parts;
  std::vector<std::int64_t> elements;  // by owner
  std::int64_t largest = 0;            // max of elements
  double imbalance = 1;                // largest / mean
};

/// Slices are rounded up to whole elements (a tensor of 10 over 4 has slices of 3).
Ownership assign_owners(const std::vector<Tensor>& tensors, const ShardingPlan& plan,
                        OsSharding sharding);

}  // namespace amsp
