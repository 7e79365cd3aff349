#pragma once

#include "core/json/object_reader.h"
#include "topology/spec/cluster_spec.h"

namespace amsp {

/// The key "collectives" of a cluster: which model times them, and what NCCL is told. The rest of
/// `cluster` has been read. Throws ConfigError for what is malformed, for settings that have no
/// effect beside a profile or rings, and if no mesh of this cluster could run any of the algorithms
/// that an operation may use.
void read_collectives(ObjectReader reader, ClusterSpec& cluster);

/// What the cluster's CPU and settings are without that key.
void default_collectives(ClusterSpec& cluster);

}  // namespace amsp
