#pragma once

#include <optional>
#include <string>
#include <vector>

#include "topology/spec/cluster_spec.h"
#include "topology/spec/mesh.h"

namespace amsp {

/// Where parameters (p), gradients (g) and optimizer states (os) are sharded inside the
/// data-parallel mesh dp. With p2 (ZeRO++ hpZ) a secondary copy of the parameters, sharded over
/// p2, serves the backward all-gathers.
struct ShardingPlan {
  Mesh p;
  Mesh g;
  Mesh os;
  Mesh dp;
  std::optional<Mesh> p2;

  bool operator==(const ShardingPlan&) const = default;
};

/// "p 4x1, g 4x1, os 8x1, dp 8x8".
std::string to_string(const ShardingPlan& plan);

/// The first rule that the plan breaks, in words with the meshes concerned; std::nullopt if none:
/// positive sizes; dp inside the cluster; nesting per axis (s_p | s_g | s_os | s_dp);
/// fewest nodes (s1 > 1 implies s0 = s0_dp); g is p or os; p2 divides p.
std::optional<std::string> broken_rule(const ShardingPlan& plan, const ClusterSpec& cluster);

/// Names of the plans known by name: ddp, zero1, zero2, zero3, zeropp, mics-K, hsdp-K, amsp.
std::vector<std::string> plan_name_patterns();

/// The plan that `name` stands for on the mesh dp; K of mics-K and hsdp-K is a number of GPUs
/// (a node is filled first, then whole nodes) or a mesh ("mics-8x2"). `amsp` is the paper's
/// Table IV and needs one of its models by name (`model_name`). Throws ConfigError starting
/// with `where` for an unknown name, a K that doesn't fill nodes, or amsp for another model.
ShardingPlan named_plan(const std::string& name, Mesh dp, const std::string& model_name,
                        const std::string& where);

}  // namespace amsp
