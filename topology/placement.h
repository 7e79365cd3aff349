#pragma once

#include <vector>

#include "topology/cluster_spec.h"
#include "topology/mesh.h"

namespace amsp {

/// Where a rank runs.
struct GpuAddress {
  int node;
  int gpu;
};

/// Puts the node indices of the data-parallel mesh onto the cluster's nodes. Consecutive blocks
/// of `block_nodes` mesh nodes (the node extent of the sharding groups) share a leaf wherever
/// whole blocks fit; what is left over on the leaves takes the remaining blocks.
class Placement {
 public:
  /// Requires dp.intra <= gpus per node and dp.inter <= nodes, block_nodes >= 1.
  Placement(const ClusterSpec& cluster, Mesh dp, int block_nodes);

  Mesh dp() const { return dp_; }
  /// Mesh node index -> node of the cluster.
  int node(int mesh_node) const { return nodes_[static_cast<std::size_t>(mesh_node)]; }
  GpuAddress address(Rank rank) const { return {node(rank / dp_.intra), rank % dp_.intra}; }

 private:
  Mesh dp_;
  std::vector<int> nodes_;
};

}  // namespace amsp
