#include "topology/spec/cluster_spec.h"

#include <algorithm>
#include <map>
#include <set>

namespace amsp {
namespace {

/// Numbers 0 .. count-1 in runs of the given lengths, the last of which repeats.
std::vector<std::vector<int>> in_runs(int count, const std::vector<int>& lengths) {
  std::vector<std::vector<int>> runs;
  for (int next = 0; next < count;) {
    const int length = lengths[std::min(runs.size(), lengths.size() - 1)];
    std::vector<int>& run = runs.emplace_back();
    for (int i = 0; i < length && next < count; ++i) run.push_back(next++);
  }
  return runs;
}

/// Numbers what stands for each item in order of appearance.
template <class Value>
std::vector<int> numbered(const std::vector<Value>& values) {
  std::map<Value, int> known;
  std::vector<int> numbers;
  for (const Value& value : values)
    numbers.push_back(known.try_emplace(value, static_cast<int>(known.size())).first->second);
  return numbers;
}

/// The far ends of the cables that `item_of` says belong to an item; others belong to -1.
template <class ItemOf>
std::vector<std::set<Vertex>> far_ends(const FabricSpec& fabric, int items, const ItemOf& item_of) {
  std::vector<std::set<Vertex>> ends(static_cast<std::size_t>(items));
  for (const CableSpec& cable : fabric.cables)
    for (const auto& [from, to] : {std::pair{cable.a, cable.b}, std::pair{cable.b, cable.a}})
      if (const int item = from.kind == VertexKind::kNic ? item_of(from) : -1; item >= 0)
        ends[static_cast<std::size_t>(item)].insert(to);
  return ends;
}

}  // namespace

std::vector<std::vector<int>> leaf_groups(const ClusterSpec& cluster) {
  const FabricSpec& fabric = cluster.fabric;
  if (!fabric.cables.empty()) {
    const std::vector<int> numbers =
        numbered(far_ends(fabric, cluster.nodes, [](const Vertex& nic) { return nic.node; }));
    std::vector<std::vector<int>> groups;
    for (int node = 0; node < cluster.nodes; ++node) {
      const auto group = static_cast<std::size_t>(numbers[static_cast<std::size_t>(node)]);
      if (group == groups.size()) groups.emplace_back();
      groups[group].push_back(node);
    }
    return groups;
  }
  if (!fabric.leaf_nodes.empty()) return in_runs(cluster.nodes, fabric.leaf_nodes);
  return in_runs(cluster.nodes,
                 {fabric.nodes_per_leaf > 0 ? fabric.nodes_per_leaf : cluster.nodes});
}

std::vector<int> rails_of_nics(const ClusterSpec& cluster) {
  const int nics = cluster.node.nics;
  if (!cluster.fabric.cables.empty())
    return numbered(far_ends(cluster.fabric, nics,
                             [](const Vertex& nic) { return nic.node == 0 ? nic.index : -1; }));
  std::vector<int> rails;
  for (int nic = 0; nic < nics; ++nic) rails.push_back(nic % cluster.fabric.rails);
  return rails;
}

}  // namespace amsp
