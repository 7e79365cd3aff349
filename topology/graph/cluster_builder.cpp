#include "topology/graph/cluster_builder.h"

#include <map>

#include "core/error.h"
#include "topology/graph/boost_graph.h"
#include "topology/spec/cluster_checks.h"
#include "topology/spec/mesh.h"
#include "topology/spec/node_cables.h"

namespace amsp {
namespace {

class Builder {
 public:
  Builder(const ClusterSpec& spec, BoostGraph& graph) : spec_(spec), graph_(graph) {
    graph_.links.reserve(static_cast<std::size_t>(count_links(spec)));
  }

  ClusterVertices run() {
    for (int node = 0; node < spec_.nodes; ++node) {
      if (spec_.node.cables.empty())
        add_node(node);
      else
        add_node_by_cables(node);
      if (node == 0) vertices_.node_links = static_cast<LinkId>(graph_.links.size());
    }
    if (spec_.fabric.cables.empty())
      add_levels();
    else
      add_fabric_by_cables();
    return std::move(vertices_);
  }

 private:
  VertexId add_vertices(VertexKind kind, int node, int count) {
    const VertexId first = boost::num_vertices(graph_);
    for (int i = 0; i < count; ++i) graph_[boost::add_vertex(graph_)] = Vertex{kind, node, i};
    return first;
  }

  void add_cable(LinkKind kind, VertexId a, VertexId b, BytesPerSec bandwidth,
                 BytesPerSec capacity) {
    for (const auto& [from, to] : {std::pair{a, b}, std::pair{b, a}}) {
      const auto id = static_cast<LinkId>(graph_.links.size());
      const Link link{id, kind, bandwidth, capacity, capacity};
      graph_.links.push_back({link, from, to});
      boost::add_edge(from, to, link, graph_);
    }
  }

  void add_node(int node) {
    const NodeSpec& spec = spec_.node;
    const auto gpus = static_cast<VertexId>(spec.gpus);
    const VertexId gpu = add_vertices(VertexKind::kGpu, node, spec.gpus);
    vertices_.first_gpu.push_back(gpu);

    if (spec.nvlink == NvlinkKind::kSwitch) {
      const VertexId first = add_vertices(VertexKind::kNvswitch, node, spec.nvswitches);
      const auto switches = static_cast<VertexId>(spec.nvswitches);
      for (VertexId i = 0; i < gpus; ++i)
        for (VertexId s = 0; s < switches; ++s)
          add_cable(LinkKind::kNvlink, gpu + i, first + s, spec.nvlink_bandwidth / spec.nvswitches,
                    spec.nvlink_capacity / spec.nvswitches);
    } else if (spec.nvlink == NvlinkKind::kDirect) {
      for (VertexId i = 0; i < gpus; ++i)
        for (VertexId j = i + 1; j < gpus; ++j)
          add_cable(LinkKind::kNvlink, gpu + i, gpu + j, spec.nvlink_bandwidth / (spec.gpus - 1),
                    spec.nvlink_capacity / (spec.gpus - 1));
    }

    const bool over_pcie = spec.nvlink == NvlinkKind::kNone;
    const VertexId pcie = over_pcie ? add_vertices(VertexKind::kPcie, node, 1) : 0;
    const VertexId nic = add_vertices(VertexKind::kNic, node, spec.nics);
    vertices_.first_nic.push_back(nic);
    const auto add_pcie = [&](VertexId a, VertexId b) {
      add_cable(LinkKind::kPcie, a, b, spec.pcie_bandwidth, spec.pcie_capacity);
    };
    if (over_pcie) {
      for (VertexId i = 0; i < gpus; ++i) add_pcie(gpu + i, pcie);
      for (VertexId i = 0; i < static_cast<VertexId>(spec.nics); ++i) add_pcie(pcie, nic + i);
    } else if (spec.nics > 0) {
      for (VertexId i = 0; i < gpus; ++i)
        add_pcie(gpu + i, nic + static_cast<VertexId>(spec.nic_of_gpu[i]));
    }
  }

  void add_node_by_cables(int node) {
    const NodeSpec& spec = spec_.node;
    std::map<VertexKind, VertexId> first;
    for (const VertexKind kind : {VertexKind::kGpu, VertexKind::kNvswitch, VertexKind::kPcie,
                                  VertexKind::kCpu, VertexKind::kNic}) {
      const int count = kind == VertexKind::kGpu   ? spec.gpus
                        : kind == VertexKind::kNic ? spec.nics
                                                   : count_parts(spec, kind);
      first[kind] = add_vertices(kind, node, count);
    }
    vertices_.first_gpu.push_back(first[VertexKind::kGpu]);
    vertices_.first_nic.push_back(first[VertexKind::kNic]);
    const auto id = [&](const Vertex& part) {
      return first[part.kind] + static_cast<VertexId>(part.index);
    };
    for (const CableSpec& cable : spec.cables)
      add_cable(link_kind(cable.a.kind, cable.b.kind), id(cable.a), id(cable.b), cable.bandwidth,
                cable.capacity);
  }

  void add_levels() {
    const FabricSpec& fabric = spec_.fabric;
    const SwitchCounts counts = count_switches(spec_);
    if (counts.leaves == 0) return;
    const VertexId leaf = add_vertices(VertexKind::kLeaf, -1, counts.leaves);
    const VertexId spine = add_vertices(VertexKind::kSpine, -1, counts.spines);
    const VertexId core = add_vertices(VertexKind::kCore, -1, fabric.cores);
    int group = 0;
    for (const std::vector<int>& nodes : leaf_groups(spec_)) {
      for (const int node : nodes)
        for (int nic = 0; nic < spec_.node.nics; ++nic)
          add_cable(LinkKind::kNic, vertices_.first_nic[index(node)] + index(nic),
                    leaf + index(group * fabric.rails + nic % fabric.rails),
                    spec_.node.nic_bandwidth, spec_.node.nic_capacity);
      ++group;
    }
    const auto join = [&](VertexId below, VertexId above, BytesPerSec bandwidth) {
      add_cable(LinkKind::kFabric, below, above, bandwidth, fabric.efficiency * bandwidth);
    };
    for (int l = 0; l < counts.leaves; ++l) {
      const int pod = fabric.leaves_per_pod > 0 ? l / fabric.leaves_per_pod : 0;
      for (int s = 0; s < fabric.spines; ++s)
        join(leaf + index(l), spine + index(pod * fabric.spines + s), fabric.leaf_spine_bandwidth);
    }
    if (fabric.cores == 0) return;
    const int planes = fabric.cores / fabric.spines;
    for (int s = 0; s < counts.spines; ++s)
      for (int i = 0; i < planes; ++i)
        join(spine + index(s), core + index(s % fabric.spines * planes + i),
             fabric.spine_core_bandwidth);
  }

  void add_fabric_by_cables() {
    std::map<Vertex, VertexId> switches;
    for (const CableSpec& cable : spec_.fabric.cables)
      for (const Vertex& end : {cable.a, cable.b})
        if (!is_inside_node(end.kind)) switches[end] = 0;
    for (auto& [vertex, id] : switches) {
      id = boost::add_vertex(graph_);
      graph_[id] = vertex;
    }
    const auto id = [&](const Vertex& end) {
      if (!is_inside_node(end.kind)) return switches.at(end);
      AMSP_CHECK(end.kind == VertexKind::kNic && end.node >= 0 && end.node < spec_.nodes &&
                     end.index < spec_.node.nics,
                 "no cable of a fabric can end at {}", to_string(end));
      return vertices_.first_nic[index(end.node)] + index(end.index);
    };
    for (const CableSpec& cable : spec_.fabric.cables)
      add_cable(link_kind(cable.a.kind, cable.b.kind), id(cable.a), id(cable.b), cable.bandwidth,
                cable.capacity);
  }

  const ClusterSpec& spec_;
  BoostGraph& graph_;
  ClusterVertices vertices_;
};

}  // namespace

LinkKind link_kind(VertexKind a, VertexKind b) {
  const auto is_one = [&](VertexKind kind) { return a == kind || b == kind; };
  if (!is_inside_node(a) || !is_inside_node(b))
    return is_one(VertexKind::kNic) ? LinkKind::kNic : LinkKind::kFabric;
  if (a == VertexKind::kCpu && b == VertexKind::kCpu) return LinkKind::kCpu;
  if (is_one(VertexKind::kPcie) || is_one(VertexKind::kCpu)) return LinkKind::kPcie;
  if (a == VertexKind::kNic && b == VertexKind::kNic) return LinkKind::kNic;
  return is_one(VertexKind::kNic) ? LinkKind::kPcie : LinkKind::kNvlink;
}

ClusterVertices build_cluster(const ClusterSpec& spec, BoostGraph& graph) {
  return Builder(spec, graph).run();
}

}  // namespace amsp
