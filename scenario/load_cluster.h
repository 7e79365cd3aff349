#pragma once

#include <string>
#include <vector>

#include "topology/cluster_spec.h"

namespace amsp {

/// The cluster that `path` names: a file with a description ({"schema": "amsp.cluster/1", ...} with
/// the keys of a scenario's cluster), a scenario, of which only that key is read, or, where there
/// is no such file, a preset. Overrides as for load_scenario, from the root of what is read. Throws
/// ConfigError.
ClusterSpec load_cluster(const std::string& path, const std::vector<std::string>& overrides = {});

}  // namespace amsp
