#pragma once

#include <string>

#include "topology/spec/cluster_spec.h"

namespace amsp {

/// The parts that the cables of a node name: how many of `kind`, counted from index 0 to the
/// largest one named.
int count_parts(const NodeSpec& node, VertexKind kind);

/// Completes a node that is described by `cables` (with gpus, nics, nic_of_gpu and NIC rates
/// set): kind and number of NVSwitches, and the NVLink rates of one GPU, the least of all GPUs.
///
/// Returns "", or the rule that is broken: names outside the node, pairs that no cable joins in
/// reality (NVSwitch and NIC, say), GPUs that can't reach each other or their NIC, a NIC faster
/// than its slot, and hybrid meshes, in which a GPU has NVLinks to several others but not to all:
/// a ring of NCCL would go around them in an order that isn't searched for here.
std::string describe_by_cables(NodeSpec& node);

}  // namespace amsp
