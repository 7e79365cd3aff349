#pragma once

#include <vector>

#include "topology/graph/cluster_graph.h"

namespace amsp {

/// By node: the first of its GPUs and NICs; those of a node are consecutive. Nodes follow on each
/// other and are alike inside: what is vertex v and link l of node 0 comes again in node n, as
/// many vertices and `n * node_links` links later.
struct ClusterVertices {
  std::vector<VertexId> first_gpu, first_nic;
  LinkId node_links = 0;
};

/// Adds the vertices and links of a checked spec (check_cluster) to an empty graph, in an order
/// that depends on nothing else.
ClusterVertices build_cluster(const ClusterSpec& spec, BoostGraph& graph);

/// What a cable between two such vertices is.
LinkKind link_kind(VertexKind a, VertexKind b);

}  // namespace amsp
