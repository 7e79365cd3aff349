#include "topology/spec/cluster_checks.h"

#include <fmt/core.h>

#include <numeric>

#include "core/error.h"

namespace amsp {
namespace {

void require(bool condition, const ClusterSpec& spec, const std::string& rule) {
  if (!condition) throw ConfigError(fmt::format("cluster '{}': {}", spec.name, rule));
}

void require_rate(BytesPerSec bandwidth, BytesPerSec capacity, const ClusterSpec& spec,
                  const char* what) {
  require(capacity.value > 0 && capacity <= bandwidth, spec,
          fmt::format("{} needs a capacity above 0 and at most its bandwidth", what));
}

/// A cable is two links; ids are int, and each link takes about 150 bytes.
constexpr std::int64_t kMaxLinks = 100'000'000;

void check_node(const ClusterSpec& spec) {
  const NodeSpec& node = spec.node;
  require(node.gpus >= 1, spec, "needs at least 1 GPU per node");
  require(node.nvlink != NvlinkKind::kSwitch || node.nvswitches >= 1, spec,
          "NVLink of kind switch needs at least 1 switch");
  if (node.nvlink != NvlinkKind::kNone)
    require_rate(node.nvlink_bandwidth, node.nvlink_capacity, spec, "NVLink");
  if (node.cables.empty() && (node.nvlink == NvlinkKind::kNone || node.nics > 0))
    require_rate(node.pcie_bandwidth, node.pcie_capacity, spec, "PCIe");
  require(node.nics >= 0, spec, "can't have less than 0 NICs");
  if (node.nics == 0) return;
  require_rate(node.nic_bandwidth, node.nic_capacity, spec, "a NIC");
  require(
      static_cast<int>(node.nic_of_gpu.size()) == node.gpus, spec,
      fmt::format("needs the NIC of each of {} GPUs, has {}", node.gpus, node.nic_of_gpu.size()));
  for (const int nic : node.nic_of_gpu)
    require(nic >= 0 && nic < node.nics, spec,
            fmt::format("a GPU uses NIC {} of {}", nic, node.nics));
}

void check_fabric(const ClusterSpec& spec) {
  const FabricSpec& fabric = spec.fabric;
  if (!fabric.cables.empty()) return;
  require(fabric.nodes_per_leaf >= 1 || !fabric.leaf_nodes.empty() || spec.nodes == 1, spec,
          "needs at least 1 node per leaf");
  if (!fabric.leaf_nodes.empty()) {
    const int sum = std::accumulate(fabric.leaf_nodes.begin(), fabric.leaf_nodes.end(), 0);
    require(sum == spec.nodes, spec, fmt::format("has {} nodes under its leaves", sum));
  }
  require(fabric.rails >= 1 && (spec.node.nics == 0 || spec.node.nics % fabric.rails == 0), spec,
          fmt::format("{} rails don't share out {} NICs", fabric.rails, spec.node.nics));
  require(fabric.spines >= 0, spec, "can't have less than 0 spines");
  if (fabric.spines > 0)
    require(fabric.leaf_spine_bandwidth.value > 0, spec,
            "links between leaf and spine need a bandwidth above 0");
  require(fabric.cores == 0 || fabric.spines > 0, spec, "cores need spines below them");
  require(fabric.cores == 0 || fabric.cores % fabric.spines == 0, spec,
          fmt::format("{} cores don't share out over {} spines", fabric.cores, fabric.spines));
  if (fabric.cores > 0)
    require(fabric.spine_core_bandwidth.value > 0, spec,
            "links between spine and core need a bandwidth above 0");
  require(fabric.efficiency > 0 && fabric.efficiency <= 1, spec,
          "a fabric's efficiency is above 0 and at most 1");
}

/// The GPUs of a node are connected by construction, whatever the kind of NVLink; the reader of
/// nodes by links has looked.
void check_connected(const ClusterSpec& spec) {
  const auto fail = [](int node, const char* why) {
    throw ConfigError(fmt::format("cluster is not connected: {} cannot reach {} ({})",
                                  to_string(Vertex{VertexKind::kGpu, 0, 0}),
                                  to_string(Vertex{VertexKind::kGpu, node, 0}), why));
  };
  if (spec.nodes > 1 && spec.node.nics == 0) fail(1, "no NICs");
  const FabricSpec& fabric = spec.fabric;
  if (count_switches(spec).leaves > fabric.rails && fabric.spines == 0)
    fail(fabric.leaf_nodes.empty() ? fabric.nodes_per_leaf : fabric.leaf_nodes[0],
         "two leaves and no spine");
}

}  // namespace

SwitchCounts count_switches(const ClusterSpec& spec) {
  const FabricSpec& fabric = spec.fabric;
  SwitchCounts counts;
  if (spec.node.nics == 0 || !fabric.cables.empty()) return counts;
  int groups = 0;
  if (!fabric.leaf_nodes.empty())
    groups = static_cast<int>(fabric.leaf_nodes.size());
  else if (fabric.nodes_per_leaf > 0)
    groups = (spec.nodes - 1) / fabric.nodes_per_leaf + 1;
  if (groups == 0) return counts;
  counts.leaves = groups * fabric.rails;
  counts.pods = fabric.leaves_per_pod > 0 ? (counts.leaves - 1) / fabric.leaves_per_pod + 1 : 1;
  counts.spines = counts.pods * fabric.spines;
  return counts;
}

std::int64_t count_links(const ClusterSpec& spec) {
  const std::int64_t gpus = spec.node.gpus, nics = spec.node.nics, nodes = spec.nodes;
  std::int64_t per_node = 0;
  if (!spec.node.cables.empty()) {
    per_node = static_cast<std::int64_t>(spec.node.cables.size());
  } else {
    switch (spec.node.nvlink) {
      case NvlinkKind::kSwitch:
        per_node = gpus * spec.node.nvswitches + (nics > 0 ? gpus : 0);
        break;
      case NvlinkKind::kDirect:
        per_node = gpus * (gpus - 1) / 2 + (nics > 0 ? gpus : 0);
        break;
      case NvlinkKind::kNone:
        per_node = gpus + nics;
        break;
    }
  }
  const FabricSpec& fabric = spec.fabric;
  if (!fabric.cables.empty())
    return 2 * (nodes * per_node + static_cast<std::int64_t>(fabric.cables.size()));
  const SwitchCounts switches = count_switches(spec);
  const std::int64_t leaves = switches.leaves;
  return 2 * (nodes * (per_node + (leaves > 0 ? nics : 0)) + leaves * fabric.spines +
              std::int64_t{switches.pods} * fabric.cores);
}

void check_cluster(const ClusterSpec& spec) {
  require(spec.nodes >= 1, spec, "needs at least 1 node");
  check_node(spec);
  check_fabric(spec);
  const std::int64_t links = count_links(spec);
  require(links <= kMaxLinks, spec,
          fmt::format("has {} links, more than {} can be handled", links, kMaxLinks));
  check_connected(spec);
}

}  // namespace amsp
