#include "topology/graph/fabric_hops.h"

#include <algorithm>
#include <map>

namespace amsp {
namespace {

bool is_switch(const ClusterGraph& graph, VertexId vertex) {
  return !is_inside_node(graph.vertex(vertex).kind);
}

bool is_nic(const ClusterGraph& graph, VertexId vertex) {
  return graph.vertex(vertex).kind == VertexKind::kNic;
}

}  // namespace

FabricHops::FabricHops(const ClusterGraph& graph) {
  const auto count = static_cast<std::size_t>(graph.vertex_count());
  std::vector<bool> belongs(count);
  for (VertexId vertex = 0; vertex < count; ++vertex) belongs[vertex] = is_switch(graph, vertex);
  for (LinkId id = 0; id < graph.link_count(); ++id)
    if (is_nic(graph, graph.source(id)) && is_nic(graph, graph.target(id)))
      belongs[graph.source(id)] = true;

  Neighbours neighbours(count);
  for (LinkId id = 0; id < graph.link_count(); ++id)
    if (belongs[graph.source(id)] && belongs[graph.target(id)])
      neighbours[graph.source(id)].push_back(graph.target(id));
  std::vector<VertexId> twin_of(count);
  for (VertexId vertex = 0; vertex < count; ++vertex) {
    auto& list = neighbours[vertex];
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
    twin_of[vertex] = vertex;
  }
  while (merge_twins(graph, neighbours, twin_of)) {
  }

  std::vector<VertexId> core;
  class_of_.assign(count, kNone);
  for (VertexId vertex = 0; vertex < count; ++vertex) {
    if (!belongs[vertex]) continue;
    VertexId kept = vertex;
    while (twin_of[kept] != kept) kept = twin_of[kept];
    if (kept == vertex) {
      class_of_[vertex] = core.size();
      core.push_back(vertex);
    } else {
      class_of_[vertex] = class_of_[kept];  // the first of all twins is kept: it is known already
    }
  }
  search(graph, neighbours, core);
}

/// One round: of vertices with the same neighbours the first is kept. Says whether there were any.
bool FabricHops::merge_twins(const ClusterGraph& graph, Neighbours& neighbours,
                             std::vector<VertexId>& twin_of) {
  std::map<std::vector<VertexId>, VertexId> first;
  bool merged = false;
  for (VertexId vertex = 0; vertex < neighbours.size(); ++vertex) {
    if (neighbours[vertex].empty() || is_nic(graph, vertex)) continue;
    const auto [found, is_new] = first.try_emplace(neighbours[vertex], vertex);
    if (is_new) continue;
    twin_of[vertex] = found->second;
    merged = true;
  }
  if (!merged) return false;
  for (VertexId vertex = 0; vertex < neighbours.size(); ++vertex) {
    if (twin_of[vertex] != vertex)
      neighbours[vertex].clear();
    else
      std::erase_if(neighbours[vertex], [&](VertexId other) { return twin_of[other] != other; });
  }
  return true;
}

void FabricHops::search(const ClusterGraph& graph, const Neighbours& neighbours,
                        const std::vector<VertexId>& core) {
  hops_.assign(core.size(), std::vector<int>(core.size(), -1));
  for (std::size_t start = 0; start < core.size(); ++start) {
    std::vector<int>& distance = hops_[start];
    std::vector<VertexId> front{core[start]};
    distance[start] = 0;
    for (int depth = 1; !front.empty(); ++depth) {
      std::vector<VertexId> next;
      for (const VertexId at : front)
        for (const VertexId to : neighbours[at]) {
          int& found = distance[class_of_[to]];
          if (found >= 0) continue;
          found = depth;
          if (!is_nic(graph, to)) next.push_back(to);
        }
      front = std::move(next);
    }
    const auto& around = neighbours[core[start]];
    const bool twins_meet = std::any_of(around.begin(), around.end(),
                                        [&](VertexId vertex) { return !is_nic(graph, vertex); });
    distance[start] = twins_meet ? 2 : -1;
  }
}

}  // namespace amsp
