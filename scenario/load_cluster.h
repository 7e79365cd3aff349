#pragma once

#include <string>
#include <vector>

#include "topology/cluster_spec.h"

namespace amsp {

/// The cluster that a file describes: itself, as the key "cluster" of a scenario would, or a
/// scenario, of which only that key is read. Overrides as for load_scenario, from the file's root.
/// Throws ConfigError.
ClusterSpec load_cluster(const std::string& path, const std::vector<std::string>& overrides = {});

}  // namespace amsp
