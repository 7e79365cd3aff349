#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "topology/graph/cluster_graph.h"

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

/// By kind of the ends.
std::vector<CableSort> cable_sorts(const ClusterGraph& graph);
/// By level, then most alike first.
std::vector<SwitchSort> switch_sorts(const ClusterGraph& graph);

}  // namespace amsp
