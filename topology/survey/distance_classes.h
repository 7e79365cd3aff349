#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "topology/graph/cluster_graph.h"

namespace amsp {

/// Pairs of GPUs that are equally far from each other.
struct DistanceClass {
  std::string name;        // "same node over NVLink", "over 3 switches"
  int switches = 0;        // of the fabric
  std::int64_t pairs = 0;  // ordered
  BytesPerSec rate;        // of one pair alone, by capacity
  Seconds step;            // what a step of a ring takes here besides moving bytes (ring_latency.h)
  Seconds wire;            // one way, a small message; 0 inside a node
  std::string from, to;    // an example: names of GPUs
  std::vector<std::string> way;  // the vertices of one of its shortest paths
};

/// How far apart GPUs are, nearest first.
std::vector<DistanceClass> distance_classes(const ClusterGraph& graph);

/// From GPU to GPU over one switch, NICs, PCIe and RDMA included: 2 to 3 us for small messages on
/// HDR and NDR InfiniBand; and what each further switch adds, its datasheet's port to port.
inline constexpr Seconds kOneSwitchAway{2.5e-6};
inline constexpr Seconds kFurtherSwitch{130e-9};

}  // namespace amsp
