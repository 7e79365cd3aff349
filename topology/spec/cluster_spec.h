#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/source.h"
#include "core/units.h"
#include "topology/spec/nccl_spec.h"
#include "topology/spec/vertex.h"

namespace amsp {

/// A GPU as its datasheet and measurements describe it (data/gpus.json).
struct GpuSpec {
  std::string name;                 // "A800-SXM4-80GB"
  FlopPerSec peak_bf16;             // dense, no sparsity
  Bytes memory;                     // HBM capacity
  BytesPerSec hbm_bandwidth;        // datasheet
  double hbm_efficiency = 0;        // measured copy rate / datasheet
  double gemm_efficiency = 0;       // sustained rate of large bf16 GEMMs / peak, without a profile
  double attention_efficiency = 0;  // the same for fused causal attention, forward
  int sms = 0;                      // streaming multiprocessors
  std::string source;
  GpuArchitecture architecture = GpuArchitecture::kUnknown;
  FlopPerSec peak_tf32{}, peak_fp32{};  // as peak_bf16; fp32 without tensor cores; 0: not given
  /// What bf16 GEMMs hold for hours at the power limit; 0: as measured (kernels/kernel_table.h).
  FlopPerSec sustained{};
};

enum class NvlinkKind { kNone, kSwitch, kDirect };

/// One cable of a description by links; both directions alike.
struct CableSpec {
  Vertex a, b;
  BytesPerSec bandwidth;  // datasheet
  BytesPerSec capacity;   // best payload
};

/// What is inside one node. All rates are per direction.
struct NodeSpec {
  int gpus = 8;
  NvlinkKind nvlink = NvlinkKind::kSwitch;
  int nvswitches = 1;            // kSwitch: each GPU splits its ports evenly over them
  BytesPerSec nvlink_bandwidth;  // per GPU, all its links together, datasheet
  BytesPerSec nvlink_capacity;   // per GPU, best payload a collective reaches
  BytesPerSec pcie_bandwidth;    // per GPU or NIC slot, datasheet
  BytesPerSec pcie_capacity;     // best payload
  int nics = 0;
  BytesPerSec nic_bandwidth;    // per NIC, datasheet
  BytesPerSec nic_capacity;     // best payload
  std::vector<int> nic_of_gpu;  // affinity: size `gpus`, values in [0, nics)
  int comm_sms_intra = 0;       // SMs that a collective kernel holds inside a node
  int comm_sms_inter = 0;       // and over nodes
  /// Where not empty, all cables inside the node (vertices of node -1), instead of what the rates
  /// above say; these then describe one GPU's NVLinks together, and PCIe stays 0. `nvlink` is
  /// kSwitch with an NVSwitch, kDirect if every pair of GPUs is joined, else kNone.
  std::vector<CableSpec> cables;
};

/// Switches between nodes, in up to three levels:
///
///   leaf    consecutive nodes form a group under `rails` leaves; NIC i of each of them attaches
///           to leaf i mod `rails` of the group. 1: all NICs of a node on one leaf; the number of
///           NICs: a rail-optimised fabric
///   spine   every leaf has one bundle to every spine; with cores, to every spine of its pod
///   core    spine i of every pod has one bundle to each of cores i*k .. i*k + k-1,
///           k = cores / spines
///
/// or by links.
struct FabricSpec {
  int nodes_per_leaf = 0;            // nodes of a group
  std::vector<int> leaf_nodes = {};  // if not empty, instead: nodes of each group
  int rails = 1;
  int spines = 0;                         // of one pod; 0 with a single leaf only
  BytesPerSec leaf_spine_bandwidth = {};  // per leaf-spine pair and direction, datasheet
  int leaves_per_pod = 0;                 // 0: no cores, one pod
  int cores = 0;
  BytesPerSec spine_core_bandwidth = {};  // per pair and direction
  double efficiency = 1;                  // payload of links between switches / bandwidth
  int ecmp_flows = 0;                     // 0: traffic splits evenly over all shortest paths
  std::uint32_t ecmp_seed = 0;            // else each of so many flows of a pair takes one of them
  std::vector<CableSpec> cables = {};     // if not empty, instead: all cables outside nodes
};

/// Where times of collectives come from if the cluster names no profile.
enum class CollectivesKind {
  kDefault,  // NCCL's model if the GPU's architecture is known, else rings
  kNccl,
  kRings
};

/// A homogeneous cluster. `profile` names the measurements that belong to this hardware.
struct ClusterSpec {
  std::string name;
  int nodes = 1;
  GpuSpec gpu;
  NodeSpec node;
  FabricSpec fabric;
  std::string profile;          // name in data/profiles, or empty: collectives are modelled
  bool profile_strict = false;  // refuse what the profile doesn't cover
  CollectivesKind collectives = CollectivesKind::kDefault;
  NcclSpec nccl;

  int gpus() const { return nodes * node.gpus; }
};

/// The nodes under the same leaves, in order: consecutive ones, or, in a fabric by links, those
/// whose NICs attach to the same switches. All nodes are in one group if nothing connects them.
std::vector<std::vector<int>> leaf_groups(const ClusterSpec& cluster);

/// By NIC of a node: its rail. NICs of one rail attach to the same switches; in a fabric by links
/// node 0 speaks for all.
std::vector<int> rails_of_nics(const ClusterSpec& cluster);

}  // namespace amsp
