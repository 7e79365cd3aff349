#pragma once

#include <string>
#include <vector>

#include "training/plan.h"

namespace amsp {

/// How many of the remaining choices a rule removed.
struct Removed {
  std::string rule;
  double tuples = 0;
};

/// All sharding plans that the rules allow on a data-parallel mesh, and what each rule removed of
/// the 6-tuples (p, g, os), each mesh from 1x1 to dp. The rules act one after the other, in the
/// order of broken_rule(): nesting, fewest nodes, gradients.
struct PlanSpace {
  Mesh dp;
  double tuples = 0;  // (R N)^3; exact up to 2^53
  std::vector<Removed> removed;
  std::vector<ShardingPlan> plans;  // by p, os, g; no p2
};

/// Meshes inside a node, then those of whole nodes (all GPUs that dp has there), whose axes divide
/// dp's; by size.
std::vector<Mesh> meshes_on_few_nodes(Mesh dp);

/// Takes time in proportion to the tuples that nest and spread over few nodes, not to all.
PlanSpace enumerate_plans(Mesh dp);

/// The plan with every secondary parameter mesh that it allows: smaller than p, dividing it, on as
/// few nodes as possible. Without the plan itself; empty for p 1x1.
std::vector<ShardingPlan> with_secondary(const ShardingPlan& plan);

}  // namespace amsp
