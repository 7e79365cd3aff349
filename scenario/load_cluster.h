#pragma once

#include <string>
#include <vector>

#include "topology/spec/cluster_spec.h"

namespace amsp {

/// The cluster that `source` names:
///   a file with a cluster by itself, as the key "cluster" of a scenario would hold it, with or
///     without "schema": "amsp.cluster/1"
///   a scenario, of which only that key is read
///   a node's topology as NCCL dumps it (read_nccl_topology): one node of GPUs without a name
///   a preset, where there is no such file
/// Overrides as for load_scenario, from the file's root or the preset ("nodes=16"). Throws
/// ConfigError.
ClusterSpec load_cluster(const std::string& source, const std::vector<std::string>& overrides = {});

}  // namespace amsp
