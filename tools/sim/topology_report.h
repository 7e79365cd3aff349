#pragma once

#include <string>

#include "core/json/json_fwd.h"
#include "topology/graph/cluster_graph.h"

namespace amsp {

/// What a fabric is made of and what it can carry, for people; fits 100 columns.
std::string topology_text(const ClusterGraph& graph);
/// For programs: units in keys ("amsp.topology/1").
OrderedJson topology_json(const ClusterGraph& graph);
/// The whole graph for Graphviz: every vertex, every cable as one edge.
std::string topology_dot(const ClusterGraph& graph);
/// A picture of it: levels of switches above nodes; of many alike the first and the last are drawn.
std::string topology_svg(const ClusterGraph& graph);

}  // namespace amsp
