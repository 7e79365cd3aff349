#include "topology/spec/node_cables.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/quantity.h"

namespace amsp {
namespace {

using Neighbours = std::map<Vertex, std::set<Vertex>>;

Vertex part(VertexKind kind, int index) {
  return {kind, -1, index};
}

bool is_nvlink(const CableSpec& cable) {
  const auto ends = [](const Vertex& v) {
    return v.kind == VertexKind::kGpu || v.kind == VertexKind::kNvswitch;
  };
  return ends(cable.a) && ends(cable.b);
}

bool can_be_joined(VertexKind a, VertexKind b) {
  const auto is_bridge = [](VertexKind kind) {
    return kind == VertexKind::kPcie || kind == VertexKind::kCpu;
  };
  if (a == VertexKind::kNvswitch) return b == VertexKind::kGpu || b == VertexKind::kNvswitch;
  if (b == VertexKind::kNvswitch) return can_be_joined(b, a);
  return is_bridge(a) || is_bridge(b) || a == VertexKind::kGpu || b == VertexKind::kGpu;
}

std::string broken_end(const NodeSpec& node, const Vertex& end) {
  if (end.node >= 0 || !is_inside_node(end.kind))
    return fmt::format("must name parts of a node, such as gpu0, found {}", to_string(end));
  const auto check = [&](VertexKind kind, int count) {
    return end.kind == kind && end.index >= count
               ? fmt::format("names {} of a node with {} {}{}", to_string(end), count,
                             kind == VertexKind::kGpu ? "GPU" : "NIC", count == 1 ? "" : "s")
               : "";
  };
  const std::string gpu = check(VertexKind::kGpu, node.gpus);
  return gpu.empty() ? check(VertexKind::kNic, node.nics) : gpu;
}

/// Everything that a GPU reaches without going through another GPU or a NIC.
std::set<Vertex> reach(const Neighbours& neighbours, const Vertex& from) {
  std::set<Vertex> reached{from};
  std::vector<Vertex> front{from};
  while (!front.empty()) {
    const Vertex at = front.back();
    front.pop_back();
    if (at != from && (at.kind == VertexKind::kGpu || at.kind == VertexKind::kNic)) continue;
    const auto found = neighbours.find(at);
    if (found == neighbours.end()) continue;
    for (const Vertex& next : found->second)
      if (reached.insert(next).second) front.push_back(next);
  }
  return reached;
}

std::string unreachable(const NodeSpec& node, const Neighbours& neighbours) {
  for (int gpu = 0; gpu < node.gpus; ++gpu) {
    const std::set<Vertex> reached = reach(neighbours, part(VertexKind::kGpu, gpu));
    const auto missing = [&](const Vertex& end) {
      return reached.contains(end) ? ""
                                   : fmt::format("don't connect gpu{} and {}", gpu, to_string(end));
    };
    std::string rule;
    for (int other = 0; other < node.gpus && rule.empty(); ++other)
      rule = missing(part(VertexKind::kGpu, other));
    if (rule.empty() && node.nics > 0)
      rule = missing(part(VertexKind::kNic, node.nic_of_gpu[static_cast<std::size_t>(gpu)]));
    if (!rule.empty()) return rule;
  }
  return "";
}

std::string too_fast_nic(const NodeSpec& node) {
  for (const CableSpec& cable : node.cables)
    for (const Vertex& end : {cable.a, cable.b})
      if (end.kind == VertexKind::kNic && node.nic_capacity > cable.capacity)
        return fmt::format("give {} {}, less than the NIC's {}", to_string(end),
                           format_bandwidth(cable.capacity), format_bandwidth(node.nic_capacity));
  return "";
}

/// Kind and rates of NVLink.
std::string describe_nvlink(NodeSpec& node) {
  std::map<int, std::set<Vertex>> peers;
  std::vector<BytesPerSec> bandwidth(static_cast<std::size_t>(node.gpus)), capacity = bandwidth;
  for (const CableSpec& cable : node.cables) {
    if (!is_nvlink(cable)) continue;
    for (const auto& [gpu, other] : {std::pair{cable.a, cable.b}, std::pair{cable.b, cable.a}}) {
      if (gpu.kind != VertexKind::kGpu) continue;
      peers[gpu.index].insert(other);
      bandwidth[static_cast<std::size_t>(gpu.index)] += cable.bandwidth;
      capacity[static_cast<std::size_t>(gpu.index)] += cable.capacity;
    }
  }
  node.nvswitches = count_parts(node, VertexKind::kNvswitch);
  node.nvlink_bandwidth = *std::min_element(bandwidth.begin(), bandwidth.end());
  node.nvlink_capacity = *std::min_element(capacity.begin(), capacity.end());
  if (node.nvswitches > 0) {
    node.nvlink = NvlinkKind::kSwitch;
    for (int gpu = 0; gpu < node.gpus; ++gpu) {
      if (peers[gpu].empty()) return fmt::format("give gpu{} no NVLink, but others", gpu);
      for (const Vertex& peer : peers[gpu])
        if (peer.kind == VertexKind::kGpu)
          return fmt::format("join gpu{} both to NVSwitches and to {}", gpu, to_string(peer));
    }
    return "";
  }
  node.nvlink = NvlinkKind::kNone;
  const auto all = static_cast<std::size_t>(node.gpus - 1);
  std::size_t fewest = all, most = 0;
  for (int gpu = 0; gpu < node.gpus; ++gpu) {
    fewest = std::min(fewest, peers[gpu].size());
    most = std::max(most, peers[gpu].size());
  }
  if (most > 0 && fewest == all) {
    node.nvlink = NvlinkKind::kDirect;
  } else if (most > 1) {
    return "join some pairs of GPUs by NVLink and others not: such a mesh is not modelled, only "
           "NVSwitches, a link for every pair, and bridges between two GPUs";
  }
  return "";
}

}  // namespace

int count_parts(const NodeSpec& node, VertexKind kind) {
  int count = 0;
  for (const CableSpec& cable : node.cables)
    for (const Vertex& end : {cable.a, cable.b})
      if (end.kind == kind) count = std::max(count, end.index + 1);
  return count;
}

std::string describe_by_cables(NodeSpec& node) {
  Neighbours neighbours;
  for (const CableSpec& cable : node.cables) {
    for (const Vertex& end : {cable.a, cable.b})
      if (std::string rule = broken_end(node, end); !rule.empty()) return rule;
    if (!can_be_joined(cable.a.kind, cable.b.kind))
      return fmt::format("can't join {} to {}", to_string(cable.a), to_string(cable.b));
    neighbours[cable.a].insert(cable.b);
    neighbours[cable.b].insert(cable.a);
  }
  if (std::string rule = unreachable(node, neighbours); !rule.empty()) return rule;
  if (std::string rule = too_fast_nic(node); !rule.empty()) return rule;
  return describe_nvlink(node);
}

}  // namespace amsp
