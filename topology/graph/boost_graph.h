#pragma once

#include <boost/graph/adjacency_list.hpp>
#include <vector>

#include "topology/graph/cluster_graph.h"

namespace amsp {

/// The graph behind a ClusterGraph, for algorithms of Boost.Graph. Only sources include this
/// header: Boost takes longer to compile than most of what uses a ClusterGraph.
struct BoostGraph
    : boost::adjacency_list<boost::vecS, boost::vecS, boost::bidirectionalS, Vertex, Link> {
  using edge = edge_descriptor;

  /// A link as the cluster has it; failed ones are no edges.
  struct Placed {
    Link link;
    VertexId source, target;
  };
  std::vector<Placed> links;  // by id
};

}  // namespace amsp
