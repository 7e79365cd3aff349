#pragma once

#include <vector>

#include "topology/collective/collective.h"
#include "training/engine_policy.h"
#include "training/plan.h"

namespace amsp {

/// One reduction of a bucket of gradients.
struct GradientReduction {
  CollectiveKind kind;
  SubMesh mesh;
};

/// What the gradients of a micro-batch need beyond the reduce-scatter of their modules, in order:
/// nothing, one collective, or a reduce-scatter and then an all-reduce. `last`: of the step.
std::vector<GradientReduction> gradient_reductions(const ShardingPlan& plan,
                                                   const EnginePolicy& engine, bool last);

}  // namespace amsp
