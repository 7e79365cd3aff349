#include "topology/survey/fabric_summary.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "topology/spec/mesh.h"

namespace amsp {
namespace {

/// Links that leave each vertex.
std::vector<std::vector<LinkId>> links_out(const ClusterGraph& graph) {
  std::vector<std::vector<LinkId>> out(index(graph.vertex_count()));
  for (LinkId id = 0; id < graph.link_count(); ++id) out[graph.source(id)].push_back(id);
  return out;
}

/// By vertex: 0 for NICs, else the fewest cables of the fabric to one; -1 inside nodes.
std::vector<int> levels(const ClusterGraph& graph, const std::vector<std::vector<LinkId>>& out) {
  std::vector<int> level(index(graph.vertex_count()), -1);
  std::vector<VertexId> front;
  for (std::size_t v = 0; v < level.size(); ++v)
    if (graph.vertex(v).kind == VertexKind::kNic) {
      level[v] = 0;
      front.push_back(v);
    }
  for (int depth = 1; !front.empty(); ++depth) {
    std::vector<VertexId> next;
    for (const VertexId at : front)
      for (const LinkId link : out[at]) {
        const VertexId to = graph.target(link);
        if (is_inside_node(graph.vertex(to).kind) || level[to] >= 0) continue;
        level[to] = depth;
        next.push_back(to);
      }
    front = std::move(next);
  }
  return level;
}

}  // namespace

std::vector<CableSort> cable_sorts(const ClusterGraph& graph) {
  std::map<std::tuple<VertexKind, VertexKind, double, double>, CableSort> sorts;
  for (LinkId id = 0; id < graph.link_count(); id += 2) {
    const Link& link = graph.link(id);
    const VertexKind a = graph.vertex(graph.source(id)).kind;
    const VertexKind b = graph.vertex(graph.target(id)).kind;
    CableSort& sort =
        sorts[{std::min(a, b), std::max(a, b), link.bandwidth.value, link.capacity.value}];
    if (sort.count++ == 0)
      sort = {std::min(a, b), std::max(a, b), link.kind, 1, link.bandwidth, link.capacity};
  }
  std::vector<CableSort> result;
  for (const auto& [key, sort] : sorts) result.push_back(sort);
  return result;
}

std::vector<SwitchSort> switch_sorts(const ClusterGraph& graph) {
  const auto out = links_out(graph);
  const std::vector<int> level = levels(graph, out);
  std::map<std::tuple<int, VertexKind, int, int, double, double>, int> count;
  for (std::size_t v = 0; v < level.size(); ++v) {
    if (is_inside_node(graph.vertex(v).kind)) continue;
    int down = 0, up = 0;
    BytesPerSec rate_down, rate_up;
    for (const LinkId link : out[v]) {
      const int there = level[graph.target(link)];
      const bool is_down = there >= 0 && there < level[v];
      (is_down ? down : up) += 1;
      (is_down ? rate_down : rate_up) += graph.link(link).bandwidth;
    }
    ++count[{level[v], graph.vertex(v).kind, down, up, rate_down.value, rate_up.value}];
  }
  std::vector<SwitchSort> sorts;
  for (const auto& [key, number] : count) {
    const auto& [at, kind, down, up, rate_down, rate_up] = key;
    const double ports =
        (rate_down + rate_up) / std::max(graph.spec().node.nic_bandwidth.value, 1.0);
    sorts.push_back({kind, at, number, down, up, {rate_down}, {rate_up}, ports});
  }
  std::stable_sort(sorts.begin(), sorts.end(), [](const SwitchSort& a, const SwitchSort& b) {
    return std::tuple(a.level, -a.count) < std::tuple(b.level, -b.count);
  });
  return sorts;
}

}  // namespace amsp
