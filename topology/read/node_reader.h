#pragma once

#include "core/json/object_reader.h"
#include "topology/spec/cluster_spec.h"

namespace amsp {

/// Reads a whole description of a node, as in read_cluster. A relative path of an NCCL topology
/// starts at `folder`. Throws ConfigError, also for what can't
/// work: several nodes without NICs, a NIC that no GPU uses or that is faster than its slot.
NodeSpec read_node(ObjectReader reader, int nodes, const GpuSpec& gpu, const std::string& folder);

}  // namespace amsp
