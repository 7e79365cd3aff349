#include "topology/nccl/switch_tree.h"

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <set>

#include "core/error.h"
#include "topology/graph/boost_graph.h"

namespace amsp {
namespace {

bool is_switch(const Vertex& vertex) {
  return vertex.node < 0;
}

/// The switches that a NIC's cables lead to.
std::vector<VertexId> leaves_of(const ClusterGraph& graph, VertexId nic) {
  std::vector<VertexId> leaves;
  for (const auto& edge : boost::make_iterator_range(boost::out_edges(nic, graph.graph())))
    if (const VertexId end = boost::target(edge, graph.graph()); is_switch(graph.vertex(end)))
      leaves.push_back(end);
  std::sort(leaves.begin(), leaves.end());
  return leaves;
}

/// Distances of all switches from one, in links.
std::map<VertexId, int> distances(const ClusterGraph& graph, VertexId from) {
  std::map<VertexId, int> result{{from, 0}};
  std::deque<VertexId> queue{from};
  while (!queue.empty()) {
    const VertexId at = queue.front();
    queue.pop_front();
    for (const auto& edge : boost::make_iterator_range(boost::out_edges(at, graph.graph()))) {
      const VertexId end = boost::target(edge, graph.graph());
      if (!is_switch(graph.vertex(end)) || !result.try_emplace(end, result.at(at) + 1).second)
        continue;
      queue.push_back(end);
    }
  }
  return result;
}

/// The first link of a shortest way from `from` to where `to_root` counts.
LinkId next_link(const ClusterGraph& graph, VertexId from, const std::map<VertexId, int>& to_root,
                 int distance) {
  LinkId best = -1;
  for (const auto& edge : boost::make_iterator_range(boost::out_edges(from, graph.graph()))) {
    const auto found = to_root.find(boost::target(edge, graph.graph()));
    if (found == to_root.end() || found->second != distance) continue;
    const LinkId link = graph.graph()[edge].id;
    if (best < 0 || link < best) best = link;
  }
  return best;
}

}  // namespace

SwitchTree switch_tree(const ClusterGraph& graph, const std::vector<VertexId>& nics, int choice) {
  std::vector<std::vector<VertexId>> leaves;  // by NIC
  for (const VertexId nic : nics) leaves.push_back(leaves_of(graph, nic));
  const std::set<std::vector<VertexId>> attachments(leaves.begin(), leaves.end());

  // By switch: how far the farthest NIC is.
  std::optional<std::map<VertexId, int>> depth;
  for (const std::vector<VertexId>& attachment : attachments) {
    std::map<VertexId, int> nearest;
    for (const VertexId leaf : attachment)
      for (const auto& [end, distance] : distances(graph, leaf)) {
        const auto [entry, is_new] = nearest.try_emplace(end, distance);
        if (!is_new) entry->second = std::min(entry->second, distance);
      }
    if (!depth) {
      depth = std::move(nearest);
      continue;
    }
    for (auto entry = depth->begin(); entry != depth->end();) {
      const auto found = nearest.find(entry->first);
      if (found == nearest.end()) {
        entry = depth->erase(entry);
      } else {
        entry->second = std::max(entry->second, found->second);
        ++entry;
      }
    }
  }
  AMSP_CHECK(depth && !depth->empty(), "no switch reaches all of {} NICs", nics.size());
  const int least =
      std::min_element(depth->begin(), depth->end(), [](const auto& a, const auto& b) {
        return a.second < b.second;
      })->second;
  std::vector<VertexId> roots;
  for (const auto& [end, distance] : *depth)
    if (distance == least) roots.push_back(end);
  const VertexId root = roots[static_cast<std::size_t>(choice) % roots.size()];

  const std::map<VertexId, int> to_root = distances(graph, root);
  std::map<LinkId, int> below;
  for (std::size_t i = 0; i < nics.size(); ++i) {
    int distance = least;
    for (const VertexId leaf : leaves[i])
      if (const auto found = to_root.find(leaf); found != to_root.end())
        distance = std::min(distance, found->second);
    for (VertexId at = nics[i]; distance >= 0; --distance) {
      const LinkId link = next_link(graph, at, to_root, distance);
      ++below[link];
      at = graph.target(link);
    }
  }
  SwitchTree tree;
  for (const auto& [link, count] : below) tree.branches.push_back({link, count});
  return tree;
}

}  // namespace amsp
