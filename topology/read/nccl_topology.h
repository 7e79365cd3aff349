#pragma once

#include <string>
#include <string_view>

#include "topology/spec/cluster_spec.h"

namespace amsp {

/// Reads the topology of a node that NCCL writes where NCCL_TOPO_DUMP_FILE says, as it found it on
/// bare metal: CPUs, PCIe tree, GPUs, NVLinks, NICs.
///
///   GPUs      in the order of `dev`
///   NVLink    per link and direction: datasheet rate of the generation (`sm`); capacity as NCCL
///             counts it. All NVSwitches count as one, as for NCCL
///   PCIe      lanes x rate, less the line code; capacity as NCCL counts it, width * rate * 0.75
///             for 8 GT/s and more
///   CPUs      every pair is joined, at the rate that NCCL knows for vendor and model
///   NICs      the fastest of the node. A GPU uses the one with the fewest cables between them;
///             equally near ones share out in order. Several for each GPU under one switch count as
///             one of their summed rate, those that no GPU uses are left out
///
/// Constants: NCCL 2.28.9, src/graph/topo.h and topo.cc. `file` is for messages. SMs of
/// collectives stay 0. Throws ConfigError for what is no such file (names the element by bus id),
/// for what a virtual machine hides, and as describe_by_cables does.
NodeSpec read_nccl_topology(std::string_view text, const std::string& file);

}  // namespace amsp
