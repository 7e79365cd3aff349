#pragma once

#include <string>
#include <vector>

#include "core/units.h"
#include "topology/nccl_spec.h"

namespace amsp {

/// Where a number comes from; printed with it.
enum class Source { kMeasured, kDerived, kModelled, kDatasheet, kAssumed };
const char* to_string(Source source);

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
};

enum class NvlinkKind { kNone, kSwitch, kDirect };

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
};

/// A two-level Clos of leaf and spine switches; every leaf has one link bundle to every spine.
/// All NICs of a node attach to the node's leaf.
struct FabricSpec {
  int nodes_per_leaf = 0;
  int spines = 0;                    // 0 with a single leaf only
  BytesPerSec leaf_spine_bandwidth;  // per leaf-spine pair and direction, datasheet
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

}  // namespace amsp
