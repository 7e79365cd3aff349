#include "topology/graph/cluster_graph.h"

#include <fmt/core.h>

#include <algorithm>
#include <boost/range/iterator_range.hpp>
#include <map>
#include <utility>

#include "core/error.h"
#include "core/mix.h"
#include "topology/graph/boost_graph.h"
#include "topology/graph/cluster_builder.h"
#include "topology/graph/shortest_paths.h"
#include "topology/spec/cluster_checks.h"

namespace amsp {
namespace {

const BoostGraph::Placed& placed(const BoostGraph& graph, LinkId id) {
  AMSP_CHECK(id >= 0 && static_cast<std::size_t>(id) < graph.links.size(), "there is no link {}",
             id);
  return graph.links[static_cast<std::size_t>(id)];
}

}  // namespace

ClusterGraph::ClusterGraph(const ClusterSpec& spec)
    : spec_(spec), graph_(std::make_unique<BoostGraph>()) {
  check_cluster(spec);
  ClusterVertices vertices = build_cluster(spec, *graph_);
  first_gpu_ = std::move(vertices.first_gpu);
  first_nic_ = std::move(vertices.first_nic);
  node_links_ = vertices.node_links;
  check_reach();
}

ClusterGraph::~ClusterGraph() = default;

int ClusterGraph::vertex_count() const {
  return static_cast<int>(boost::num_vertices(*graph_));
}

const Vertex& ClusterGraph::vertex(VertexId id) const {
  AMSP_CHECK(id < boost::num_vertices(*graph_), "there is no vertex {}", id);
  return (*graph_)[id];
}

int ClusterGraph::link_count() const {
  return static_cast<int>(graph_->links.size());
}

const Link& ClusterGraph::link(LinkId id) const {
  return placed(*graph_, id).link;
}

VertexId ClusterGraph::source(LinkId id) const {
  return placed(*graph_, id).source;
}

VertexId ClusterGraph::target(LinkId id) const {
  return placed(*graph_, id).target;
}

void ClusterGraph::set_available(LinkId id, BytesPerSec rate) {
  AMSP_CHECK(rate.value > 0 && rate <= link(id).capacity, "{} can't have {} left", link_name(id),
             rate.value);
  graph_->links[static_cast<std::size_t>(id)].link.available = rate;
}

void ClusterGraph::fail(LinkId id) {
  AMSP_CHECK(routes_.empty(), "links must fail before routes are asked for");
  if (link(id).available.value == 0) return;
  for (const LinkId direction : {id, id ^ 1}) {
    graph_->links[static_cast<std::size_t>(direction)].link.available = BytesPerSec{0};
    for (const auto& edge :
         boost::make_iterator_range(boost::out_edges(source(direction), *graph_))) {
      if ((*graph_)[edge].id != direction) continue;
      boost::remove_edge(edge, *graph_);
      break;
    }
  }
  has_failures_ = true;
  for (const VertexId end : {source(id), target(id)}) check_node(vertex(end).node);
  check_reach();
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

bool ClusterGraph::are_gpus_of_one_node(VertexId a, VertexId b) const {
  const Vertex &first = (*graph_)[a], &second = (*graph_)[b];
  return first.kind == VertexKind::kGpu && second.kind == VertexKind::kGpu &&
         first.node == second.node;
}

bool ClusterGraph::passes(VertexId inside, VertexId from, VertexId to) const {
  const Vertex& vertex = (*graph_)[inside];
  if (vertex.kind == VertexKind::kGpu) return false;
  if (vertex.kind == VertexKind::kPcie || vertex.kind == VertexKind::kCpu)
    return spec_.node.nvlink != NvlinkKind::kSwitch || !are_gpus_of_one_node(from, to);
  if (vertex.kind != VertexKind::kNic) return true;
  if ((*graph_)[from].node == (*graph_)[to].node) return false;
  const auto is_nic_of = [&](VertexId end) {
    const Vertex& gpu_vertex = (*graph_)[end];
    return gpu_vertex.kind == VertexKind::kGpu && inside == nic(gpu_vertex.node, gpu_vertex.index);
  };
  return is_nic_of(from) || is_nic_of(to);
}

std::vector<RouteShare> ClusterGraph::hashed(VertexId from, VertexId to,
                                             const std::vector<RouteShare>& shares) const {
  const int flows = spec_.fabric.ecmp_flows;
  std::map<LinkId, int> taken;
  for (int flow = 0; flow < flows; ++flow)
    for (VertexId at = from; at != to;) {
      std::vector<LinkId> hops;
      for (const RouteShare& share : shares)
        if (source(share.link) == at) hops.push_back(share.link);
      AMSP_CHECK(!hops.empty(), "a route ends at {}", to_string(vertex(at)));
      std::uint64_t hash = spec_.fabric.ecmp_seed;
      for (const std::uint64_t key : {std::uint64_t{from}, std::uint64_t{to},
                                      static_cast<std::uint64_t>(flow), std::uint64_t{at}})
        hash = mix(hash ^ key);
      const LinkId link = hops[static_cast<std::size_t>(hash % hops.size())];
      ++taken[link];
      at = target(link);
    }
  std::vector<RouteShare> result;
  for (const auto& [link, count] : taken)
    result.push_back({link, static_cast<double>(count) / flows});
  return result;
}

const std::vector<RouteShare>& ClusterGraph::route(VertexId from, VertexId to) const {
  const std::uint64_t vertices = boost::num_vertices(*graph_);
  AMSP_CHECK(from < vertices && to < vertices, "there is no vertex {}", std::max(from, to));
  const std::uint64_t key = from * vertices + to;
  if (const auto found = routes_.find(key); found != routes_.end()) return found->second;
  std::vector<RouteShare> shares = over_one_switch_each(from, to);
  if (shares.empty())
    shares = split_over_shortest_paths(*graph_, from, to,
                                       [&](VertexId inside) { return passes(inside, from, to); });
  if (spec_.fabric.ecmp_flows > 0 && vertex(from).node != vertex(to).node)
    shares = hashed(from, to, shares);
  AMSP_CHECK(from == to || !shares.empty(), "no route leads from {} to {}", to_string(vertex(from)),
             to_string(vertex(to)));
  return routes_.emplace(key, std::move(shares)).first->second;
}

LinkId ClusterGraph::uplink(VertexId nic) const {
  LinkId found = -1;
  for (const auto& edge : boost::make_iterator_range(boost::out_edges(nic, *graph_))) {
    if (is_inside_node((*graph_)[boost::target(edge, *graph_)].kind)) continue;
    if (found >= 0) return -1;
    found = (*graph_)[edge].id;
  }
  return found;
}

std::vector<RouteShare> ClusterGraph::over_one_switch_each(VertexId from, VertexId to) const {
  const Vertex &a = (*graph_)[from], &b = (*graph_)[to];
  if (a.kind != VertexKind::kGpu || b.kind != VertexKind::kGpu || a.node == b.node) return {};
  const VertexId out = nic(a.node, a.index), in = nic(b.node, b.index);
  const LinkId up = uplink(out), down = uplink(in) ^ 1;
  if (up < 0 || uplink(in) < 0) return {};
  std::vector<RouteShare> shares{{up, 1}, {down, 1}};
  const auto add = [&](const ShiftedRoute& part) {
    for (const auto& [link, fraction] : part.shares)
      shares.push_back({link + part.shift, fraction});
  };
  add(shifted_route(from, out));
  add(shifted_route(in, to));
  if (target(up) != source(down)) add({route(target(up), source(down)), 0});
  std::sort(shares.begin(), shares.end(),
            [](const RouteShare& x, const RouteShare& y) { return x.link < y.link; });
  return shares;
}

ShiftedRoute ClusterGraph::shifted_route(VertexId from, VertexId to) const {
  const int node = (*graph_)[from].node;
  if (node <= 0 || has_failures_ || (*graph_)[to].node != node) return {route(from, to), 0};
  const VertexId earlier = first_gpu_[static_cast<std::size_t>(node)] - first_gpu_[0];
  return {route(from - earlier, to - earlier), node * node_links_};
}

void ClusterGraph::check_node(int node) const {
  if (node < 0) return;
  const auto check = [&](VertexId from, VertexId to) {
    const auto enters = [&](VertexId inside) { return passes(inside, from, to); };
    if (from != to && split_over_shortest_paths(*graph_, from, to, enters).empty())
      throw ConfigError(fmt::format("cluster is not connected: {} cannot reach {}",
                                    to_string(vertex(from)), to_string(vertex(to))));
  };
  for (int a = 0; a < spec_.node.gpus; ++a) {
    for (int b = 0; b < spec_.node.gpus; ++b) check(gpu(node, a), gpu(node, b));
    if (spec_.nodes > 1) check(gpu(node, a), nic(node, a));
  }
}

void ClusterGraph::check_reach() const {
  if (spec_.nodes == 1) return;
  // everything that node0/nic0 reaches outside the nodes
  std::vector<bool> reached(boost::num_vertices(*graph_));
  std::vector<VertexId> front{first_nic_[0]};
  reached[first_nic_[0]] = true;
  while (!front.empty()) {
    const VertexId at = front.back();
    front.pop_back();
    for (const auto& edge : boost::make_iterator_range(boost::out_edges(at, *graph_))) {
      const VertexId next = boost::target(edge, *graph_);
      const VertexKind kind = (*graph_)[next].kind;
      if (reached[next] || (is_inside_node(kind) && kind != VertexKind::kNic)) continue;
      reached[next] = true;
      front.push_back(next);
    }
  }
  const auto reaches = [&](int node, int gpu) { return bool{reached[nic(node, gpu)]}; };
  for (int i = 1; i <= spec_.nodes; ++i)
    for (int gpu = 0; gpu < spec_.node.gpus; ++gpu) {
      // node 0 comes last: by then all of node 1 is reached
      const int node = i % spec_.nodes, other = node == 0 ? 1 : 0;
      if (reaches(node, gpu)) continue;
      int from = 0;
      while (!reaches(other, from)) ++from;
      throw ConfigError(fmt::format(
          "cluster is not connected: {} cannot reach {} (no way from {} to {})",
          to_string(vertex(this->gpu(other, from))), to_string(vertex(this->gpu(node, gpu))),
          to_string(vertex(nic(other, from))), to_string(vertex(nic(node, gpu)))));
    }
}

}  // namespace amsp
