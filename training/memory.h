#pragma once

#include <string>
#include <vector>

#include "core/units.h"
#include "topology/spec/cluster_spec.h"
#include "training/engine_policy.h"
#include "training/model.h"
#include "training/plan.h"
#include "training/training.h"

namespace amsp {

/// One part of a GPU's memory at its peak, with the formula behind the number.
struct MemoryPart {
  std::string name;  // "parameters", "activations", ...
  Bytes bytes;
  std::string formula;  // "2 B x Phi / s_p = 2 x 6.738e9 / 1"
};

/// Memory of the rank with the largest optimizer shard.
struct MemoryEstimate {
  std::vector<MemoryPart> parts;
  Bytes allocated;  // all parts but the allocator's reserve
  Bytes reserved;   // with it: what the GPU must have
  Bytes capacity;
  double shard_imbalance = 1;  // largest optimizer shard / mean

  bool fits() const { return reserved <= capacity; }
  Bytes part(const std::string& name) const;  // 0 if there is none
};

/// The number of communicators that a rank opens: one per mesh, or per mesh and role.
int communicator_count(const TrainingSpec& training, const ShardingPlan& plan,
                       const EnginePolicy& engine);

/// The sum of each part's own maximum, hence an upper bound of the peak.
MemoryEstimate estimate_memory(const ModelSpec& model, const TrainingSpec& training,
                               const ShardingPlan& plan, const EnginePolicy& engine,
                               const ClusterSpec& cluster);

/// What would make it fit, most effective first: "shard optimizer states wider (os 8x2 saves
/// 3.1 GiB)", "recompute: full saves 12 GiB". Empty if it fits.
std::vector<std::string> memory_advice(const ModelSpec& model, const TrainingSpec& training,
                                       const ShardingPlan& plan, const EnginePolicy& engine,
                                       const ClusterSpec& cluster);

}  // namespace amsp
