#pragma once

#include <vector>

#include "topology/graph/cluster_graph.h"

namespace amsp {

/// A tree of switches under which NICs hang: what reduces and multicasts in the network (SHARP).
struct SwitchTree {
  struct Branch {
    LinkId up;  // towards the root; `up ^ 1` is the way back
    int nics;   // below this link
  };
  std::vector<Branch> branches;  // by link
};

/// The shallowest tree over `nics`: its root is a switch whose farthest NIC is as near as possible,
/// the paths to it are shortest, and every link stands once. Of equally good roots `choice` picks
/// one, modulo their number, so that the trees of several rails spread over the spines. Throws
/// InternalError if no switch reaches all.
SwitchTree switch_tree(const ClusterGraph& graph, const std::vector<VertexId>& nics, int choice);

}  // namespace amsp
