#pragma once

#include <cstdint>

#include "topology/spec/cluster_spec.h"

namespace amsp {

/// Throws ConfigError if a graph can't be built from the spec: counts and rates that don't fit
/// together, too many links, nodes without a way to each other that shows without the graph.
void check_cluster(const ClusterSpec& spec);

/// Leaf switches, pods and spines in all; 0 where nothing connects the nodes (there is one) or the
/// fabric is described by links.
struct SwitchCounts {
  int leaves = 0;
  int pods = 0;
  int spines = 0;
};
SwitchCounts count_switches(const ClusterSpec& spec);

/// Both directions counted.
std::int64_t count_links(const ClusterSpec& spec);

}  // namespace amsp
