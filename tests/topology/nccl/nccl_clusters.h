#pragma once

#include "core/units.h"
#include "topology/spec/cluster_spec.h"

namespace amsp {

/// `nodes` nodes of 8 GPUs on an NVSwitch, one or more GPUs per NIC, under one leaf.
inline ClusterSpec switched_cluster(GpuArchitecture architecture, int nodes, double nvlink,
                                    double port, int nics, double nic, double nic_payload,
                                    double pcie, double slot) {
  ClusterSpec spec;
  spec.name = "switched";
  spec.nodes = nodes;
  spec.gpu.name = "GPU";
  spec.gpu.architecture = architecture;
  spec.node.gpus = 8;
  spec.node.nvlink_bandwidth = {nvlink * 1e9};
  spec.node.nvlink_capacity = {port * 1e9};
  spec.node.pcie_bandwidth = {pcie * 1e9};
  spec.node.pcie_capacity = {slot * 1e9};
  spec.node.nics = nics;
  spec.node.nic_bandwidth = {nic * 1e9};
  spec.node.nic_capacity = {nic_payload * 1e9};
  for (int gpu = 0; gpu < 8; ++gpu) spec.node.nic_of_gpu.push_back(gpu * nics / 8);
  spec.fabric = {.nodes_per_leaf = nodes, .spines = 0, .leaf_spine_bandwidth = {0}};
  return spec;
}

/// Capacities: the best rings in data/nccl.
inline ClusterSpec a100_cluster(int nodes, int nics = 8) {
  ClusterSpec spec =
      switched_cluster(GpuArchitecture::kAmpere, nodes, 300, 235, nics, 25, 24.3, 32, 26);
  spec.nccl.amd_cpu = true;
  return spec;
}
inline ClusterSpec a800_nccl_cluster(int nodes, int nics) {
  ClusterSpec spec =
      switched_cluster(GpuArchitecture::kAmpere, nodes, 200, 160, nics, 25, 24.3, 32, 26);
  spec.nccl.amd_cpu = true;
  return spec;
}
inline ClusterSpec h100_cluster(int nodes) {
  return switched_cluster(GpuArchitecture::kHopper, nodes, 450, 370, 8, 50, 48.5, 64, 55);
}
inline ClusterSpec b200_cluster(int nodes) {
  return switched_cluster(GpuArchitecture::kBlackwell, nodes, 900, 687, 8, 50, 48.6, 64, 55);
}

}  // namespace amsp
