#include "topology/cluster_graph.h"

#include <fmt/core.h>

#include "core/error.h"
#include "topology/boost_graph.h"
#include "topology/shortest_paths.h"

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

/// 0 if nothing connects the nodes (there is one).
int leaf_count(const ClusterSpec& spec) {
  const int per_leaf = spec.fabric.nodes_per_leaf;
  return per_leaf > 0 && spec.node.nics > 0 ? (spec.nodes - 1) / per_leaf + 1 : 0;
}

std::int64_t count_links(const ClusterSpec& spec) {
  const std::int64_t gpus = spec.node.gpus, nics = spec.node.nics;
  const std::int64_t leaves = leaf_count(spec);
  std::int64_t per_node = leaves > 0 ? nics : 0;
  switch (spec.node.nvlink) {
    case NvlinkKind::kSwitch:
      per_node += gpus * spec.node.nvswitches + (nics > 0 ? gpus : 0);
      break;
    case NvlinkKind::kDirect:
      per_node += gpus * (gpus - 1) / 2 + (nics > 0 ? gpus : 0);
      break;
    case NvlinkKind::kNone:
      per_node += gpus + nics;
      break;
  }
  return 2 * (spec.nodes * per_node + leaves * spec.fabric.spines);
}

void check_consistent(const ClusterSpec& spec) {
  const NodeSpec& node = spec.node;
  const FabricSpec& fabric = spec.fabric;
  require(spec.nodes >= 1, spec, "needs at least 1 node");
  require(node.gpus >= 1, spec, "needs at least 1 GPU per node");
  require(node.nvlink != NvlinkKind::kSwitch || node.nvswitches >= 1, spec,
          "NVLink of kind switch needs at least 1 switch");
  if (node.nvlink != NvlinkKind::kNone)
    require_rate(node.nvlink_bandwidth, node.nvlink_capacity, spec, "NVLink");
  if (node.nvlink == NvlinkKind::kNone || node.nics > 0)
    require_rate(node.pcie_bandwidth, node.pcie_capacity, spec, "PCIe");
  require(node.nics >= 0, spec, "can't have less than 0 NICs");
  if (node.nics > 0) {
    require_rate(node.nic_bandwidth, node.nic_capacity, spec, "a NIC");
    require(
        static_cast<int>(node.nic_of_gpu.size()) == node.gpus, spec,
        fmt::format("needs the NIC of each of {} GPUs, has {}", node.gpus, node.nic_of_gpu.size()));
    for (const int nic : node.nic_of_gpu)
      require(nic >= 0 && nic < node.nics, spec,
              fmt::format("a GPU uses NIC {} of {}", nic, node.nics));
  }
  require(fabric.nodes_per_leaf >= 1 || spec.nodes == 1, spec, "needs at least 1 node per leaf");
  require(fabric.spines >= 0, spec, "can't have less than 0 spines");
  if (fabric.spines > 0)
    require(fabric.leaf_spine_bandwidth.value > 0, spec,
            "links between leaf and spine need a bandwidth above 0");
  const std::int64_t links = count_links(spec);
  require(links <= kMaxLinks, spec,
          fmt::format("has {} links, more than {} can be handled", links, kMaxLinks));
}

/// The GPUs of a node are connected by construction, whatever the kind of NVLink.
void check_connected(const ClusterSpec& spec) {
  const auto fail = [](int node, const char* why) {
    throw ConfigError(fmt::format("cluster is not connected: {} cannot reach {} ({})",
                                  to_string(Vertex{VertexKind::kGpu, 0, 0}),
                                  to_string(Vertex{VertexKind::kGpu, node, 0}), why));
  };
  if (spec.nodes > 1 && spec.node.nics == 0) fail(1, "no NICs");
  if (leaf_count(spec) > 1 && spec.fabric.spines == 0)
    fail(spec.fabric.nodes_per_leaf, "two leaves and no spine");
}

const BoostGraph::edge& edge_of(const BoostGraph& graph, LinkId id) {
  AMSP_CHECK(id >= 0 && static_cast<std::size_t>(id) < graph.edges_by_link.size(),
             "there is no link {}", id);
  return graph.edges_by_link[static_cast<std::size_t>(id)];
}

}  // namespace

std::string to_string(const Vertex& vertex) {
  const auto inside = [&](const char* what) {
    return fmt::format("node{}/{}{}", vertex.node, what, vertex.index);
  };
  switch (vertex.kind) {
    case VertexKind::kGpu:
      return inside("gpu");
    case VertexKind::kNvswitch:
      return inside("nvswitch");
    case VertexKind::kPcie:
      return inside("pcie");
    case VertexKind::kNic:
      return inside("nic");
    case VertexKind::kLeaf:
      return fmt::format("leaf{}", vertex.index);
    case VertexKind::kSpine:
      return fmt::format("spine{}", vertex.index);
  }
  throw InternalError("a VertexKind outside its enumeration");
}

ClusterGraph::ClusterGraph(const ClusterSpec& spec)
    : spec_(spec), graph_(std::make_unique<BoostGraph>()) {
  check_consistent(spec);
  check_connected(spec);
  graph_->edges_by_link.reserve(static_cast<std::size_t>(count_links(spec)));
  for (int node = 0; node < spec.nodes; ++node) add_node(node);
  add_fabric();
}

ClusterGraph::~ClusterGraph() = default;

VertexId ClusterGraph::add_vertices(VertexKind kind, int node, int count) {
  const VertexId first = boost::num_vertices(*graph_);
  for (int i = 0; i < count; ++i) (*graph_)[boost::add_vertex(*graph_)] = Vertex{kind, node, i};
  return first;
}

void ClusterGraph::add_cable(LinkKind kind, VertexId a, VertexId b, BytesPerSec bandwidth,
                             BytesPerSec capacity) {
  for (const auto& [from, to] : {std::pair{a, b}, std::pair{b, a}})
    graph_->edges_by_link.push_back(
        boost::add_edge(from, to, Link{link_count(), kind, bandwidth, capacity}, *graph_).first);
}

void ClusterGraph::add_node(int node) {
  const NodeSpec& spec = spec_.node;
  const auto gpus = static_cast<VertexId>(spec.gpus);
  const VertexId gpu = add_vertices(VertexKind::kGpu, node, spec.gpus);
  first_gpu_.push_back(gpu);

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
  first_nic_.push_back(nic);
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

void ClusterGraph::add_fabric() {
  const FabricSpec& fabric = spec_.fabric;
  const int leaves = leaf_count(spec_);
  if (leaves == 0) return;
  const VertexId leaf = add_vertices(VertexKind::kLeaf, -1, leaves);
  const VertexId spine = add_vertices(VertexKind::kSpine, -1, fabric.spines);
  for (int node = 0; node < spec_.nodes; ++node)
    for (int i = 0; i < spec_.node.nics; ++i)
      add_cable(LinkKind::kNic, first_nic_[static_cast<std::size_t>(node)] + i,
                leaf + static_cast<VertexId>(node / fabric.nodes_per_leaf),
                spec_.node.nic_bandwidth, spec_.node.nic_capacity);
  for (int l = 0; l < leaves; ++l)
    for (int s = 0; s < fabric.spines; ++s)
      add_cable(LinkKind::kFabric, leaf + l, spine + s, fabric.leaf_spine_bandwidth,
                fabric.leaf_spine_bandwidth);
}

int ClusterGraph::vertex_count() const {
  return static_cast<int>(boost::num_vertices(*graph_));
}

const Vertex& ClusterGraph::vertex(VertexId id) const {
  AMSP_CHECK(id < boost::num_vertices(*graph_), "there is no vertex {}", id);
  return (*graph_)[id];
}

int ClusterGraph::link_count() const {
  return static_cast<int>(graph_->edges_by_link.size());
}

const Link& ClusterGraph::link(LinkId id) const {
  return (*graph_)[edge_of(*graph_, id)];
}

VertexId ClusterGraph::source(LinkId id) const {
  return boost::source(edge_of(*graph_, id), *graph_);
}

VertexId ClusterGraph::target(LinkId id) const {
  return boost::target(edge_of(*graph_, id), *graph_);
}

std::string ClusterGraph::link_name(LinkId id) const {
  return to_string(vertex(source(id))) + " -> " + to_string(vertex(target(id)));
}

VertexId ClusterGraph::gpu(int node, int gpu) const {
  AMSP_CHECK(node >= 0 && node < spec_.nodes && gpu >= 0 && gpu < spec_.node.gpus,
             "there is no node{}/gpu{}", node, gpu);
  return first_gpu_[static_cast<std::size_t>(node)] + static_cast<VertexId>(gpu);
}

VertexId ClusterGraph::nic(int node, int gpu) const {
  AMSP_CHECK(
      node >= 0 && node < spec_.nodes && gpu >= 0 && gpu < spec_.node.gpus && spec_.node.nics > 0,
      "there is no NIC for node{}/gpu{}", node, gpu);
  return first_nic_[static_cast<std::size_t>(node)] +
         static_cast<VertexId>(spec_.node.nic_of_gpu[static_cast<std::size_t>(gpu)]);
}

bool ClusterGraph::passes(VertexId inside, VertexId from, VertexId to) const {
  const Vertex& vertex = (*graph_)[inside];
  if (vertex.kind == VertexKind::kGpu) return false;
  if (vertex.kind != VertexKind::kNic) return true;
  if ((*graph_)[from].node == (*graph_)[to].node) return false;
  const auto is_nic_of = [&](VertexId end) {
    const Vertex& gpu_vertex = (*graph_)[end];
    return gpu_vertex.kind == VertexKind::kGpu && inside == nic(gpu_vertex.node, gpu_vertex.index);
  };
  return is_nic_of(from) || is_nic_of(to);
}

const std::vector<RouteShare>& ClusterGraph::route(VertexId from, VertexId to) const {
  const std::uint64_t vertices = boost::num_vertices(*graph_);
  AMSP_CHECK(from < vertices && to < vertices, "there is no vertex {}", std::max(from, to));
  const std::uint64_t key = from * vertices + to;
  if (const auto found = routes_.find(key); found != routes_.end()) return found->second;
  std::vector<RouteShare> shares = split_over_shortest_paths(
      *graph_, from, to, [&](VertexId inside) { return passes(inside, from, to); });
  AMSP_CHECK(from == to || !shares.empty(), "no route leads from {} to {}", to_string(vertex(from)),
             to_string(vertex(to)));
  return routes_.emplace(key, std::move(shares)).first->second;
}

}  // namespace amsp
