#pragma once

#include <vector>

#include "topology/spec/cluster_spec.h"
#include "topology/spec/mesh.h"

namespace amsp {

/// Where a rank runs.
struct GpuAddress {
  int node;
  int gpu;
};

enum class PlacementKind {
  kPacked,     // blocks of mesh nodes share a leaf wherever whole blocks fit
  kScattered,  // mesh nodes that follow each other are on different leaves, as far as there are
  kExplicit,   // as listed
};
/// "packed", "scattered", "explicit".
const char* to_string(PlacementKind kind);

/// How the data-parallel mesh is put onto the cluster's nodes.
struct PlacementSpec {
  PlacementKind kind = PlacementKind::kPacked;
  std::vector<int> nodes = {};  // kExplicit: the cluster's node of each mesh node
};

/// Puts the node indices of the data-parallel mesh onto the cluster's nodes.
///
///   packed     consecutive blocks of `block_nodes` mesh nodes (the node extent of the sharding
///              groups) share a leaf wherever whole blocks fit; what is left over on the leaves
///              takes the remaining blocks
///   scattered  one mesh node to each leaf in turn: what a busy scheduler may hand out
///
/// Nodes share a leaf if leaf_groups says so.
class Placement {
 public:
  /// Requires dp.intra <= gpus per node and dp.inter <= nodes, block_nodes >= 1; explicit nodes
  /// have to be dp.inter different ones of the cluster.
  Placement(const ClusterSpec& cluster, Mesh dp, int block_nodes, const PlacementSpec& spec = {});

  Mesh dp() const { return dp_; }
  /// Mesh node index -> node of the cluster.
  int node(int mesh_node) const { return nodes_[static_cast<std::size_t>(mesh_node)]; }
  GpuAddress address(Rank rank) const { return {node(rank / dp_.intra), rank % dp_.intra}; }

 private:
  Mesh dp_;
  std::vector<int> nodes_;
};

}  // namespace amsp
