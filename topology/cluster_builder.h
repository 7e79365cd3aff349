#pragma once

#include <vector>

#include "topology/cluster_graph.h"

namespace amsp {

/// By node: the first of its GPUs and NICs; those of a node are consecutive.
struct ClusterVertices {
  std::vector<VertexId> first_gpu, first_nic;
};

/// Adds the vertices and links of a checked spec (check_cluster) to an empty graph, in an order
/// that depends on nothing else.
ClusterVertices build_cluster(const ClusterSpec& spec, BoostGraph& graph);

/// What a cable between two such vertices is.
LinkKind link_kind(VertexKind a, VertexKind b);

}  // namespace amsp
