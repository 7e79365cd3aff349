#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "topology/cluster_graph.h"

namespace amsp {

/// Cables that join the same kinds of vertices at the same rates.
struct CableSort {
  VertexKind a, b;
  LinkKind kind;
  std::int64_t count = 0;
  BytesPerSec bandwidth, capacity;  // of one, per direction
};

/// Switches of the fabric that are alike: how many, and what they join, datasheet rates.
struct SwitchSort {
  VertexKind kind;
  int level = 1;  // 1 has NICs below it, 2 has level 1, ...
  int count = 0;
  int cables_down = 0, cables_up = 0;  // up: also to others of the same level
  BytesPerSec down, up;                // in all
  double ports = 0;                    // down and up, counted in NICs
  /// What can come from below over what can go up; 0 for those at the top.
  double oversubscription() const { return up.value > 0 ? down / up : 0; }
};

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
/// By kind of the ends.
std::vector<CableSort> cable_sorts(const ClusterGraph& graph);
/// By level, then most alike first.
std::vector<SwitchSort> switch_sorts(const ClusterGraph& graph);

/// From GPU to GPU over one switch, NICs, PCIe and RDMA included: 2 to 3 us for small messages on
/// HDR and NDR InfiniBand; and what each further switch adds, its datasheet's port to port.
inline constexpr Seconds kOneSwitchAway{2.5e-6};
inline constexpr Seconds kFurtherSwitch{130e-9};

}  // namespace amsp
