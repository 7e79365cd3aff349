#pragma once

#include <string>
#include <vector>

#include "topology/graph/cluster_graph.h"

namespace amsp {

/// What can flow at once from one half of the GPUs to the other: a maximum flow, every GPU
/// sending and receiving what it can. (The worst halves of all are hard to find; these two are the
/// usual ones: halves next to each other, and halves that interleave.)
struct Bisection {
  std::string halves;     // "nodes 0-3 | 4-7"
  int gpus = 0;           // of the smaller half
  BytesPerSec bandwidth;  // datasheet rates
  BytesPerSec capacity;   // best payload
  /// bandwidth over what the smaller half could send: its NICs, or, within one node, its GPUs.
  double of_full = 0;
};

/// Halves of the nodes, or of the GPUs where there is one node; empty for a single GPU. By
/// push-relabel (Boost.Graph).
std::vector<Bisection> bisections(const ClusterGraph& graph);

}  // namespace amsp
