#pragma once

#include "core/units.h"
#include "topology/spec/cluster_spec.h"

namespace amsp {

/// Nodes as profile a800-4xhdr measured them: 8 GPUs on an NVSwitch, 2 GPUs per NIC, 4 nodes per
/// leaf, 16 spines. Capacities are the best rates of the profile, rounded up.
inline ClusterSpec a800_cluster(int nodes) {
  ClusterSpec spec;
  spec.name = "a800";
  spec.nodes = nodes;
  spec.gpu.name = "A800-SXM4-80GB";
  spec.node.gpus = 8;
  spec.node.nvlink = NvlinkKind::kSwitch;
  spec.node.nvlink_bandwidth = 200_GBps;
  spec.node.nvlink_capacity = {177.0384e9};
  spec.node.pcie_bandwidth = 32_GBps;
  spec.node.pcie_capacity = 26_GBps;
  spec.node.nics = 4;
  spec.node.nic_bandwidth = 25_GBps;
  spec.node.nic_capacity = {24.3821e9};
  spec.node.nic_of_gpu = {0, 0, 1, 1, 2, 2, 3, 3};
  spec.fabric = {.nodes_per_leaf = 4, .spines = 16, .leaf_spine_bandwidth = 25_GBps};
  return spec;
}

}  // namespace amsp
