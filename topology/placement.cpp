#include "topology/placement.h"

#include <algorithm>

#include "core/error.h"

namespace amsp {
namespace {

/// The nodes that one leaf still has to give, handed out in order.
struct Leaf {
  int next;
  int end;

  int free() const { return end - next; }
};

std::vector<Leaf> leaves_of(const ClusterSpec& cluster) {
  const int per_leaf =
      cluster.fabric.nodes_per_leaf > 0 ? cluster.fabric.nodes_per_leaf : cluster.nodes;
  std::vector<Leaf> leaves;
  for (int first = 0; first < cluster.nodes; first += per_leaf)
    leaves.push_back({first, first + std::min(per_leaf, cluster.nodes - first)});
  return leaves;
}

}  // namespace

Placement::Placement(const ClusterSpec& cluster, Mesh dp, int block_nodes) : dp_(dp) {
  AMSP_CHECK(dp.intra >= 1 && dp.intra <= cluster.node.gpus && dp.inter >= 1 &&
                 dp.inter <= cluster.nodes && block_nodes >= 1,
             "{} in blocks of {} nodes does not fit {} nodes of {} GPUs", to_string(dp),
             block_nodes, cluster.nodes, cluster.node.gpus);
  std::vector<Leaf> leaves = leaves_of(cluster);
  nodes_.reserve(static_cast<std::size_t>(dp.inter));
  const auto missing = [&] { return dp.inter - static_cast<int>(nodes_.size()); };

  for (Leaf& leaf : leaves)
    while (leaf.free() >= block_nodes && missing() >= block_nodes)
      for (int i = 0; i < block_nodes; ++i) nodes_.push_back(leaf.next++);
  for (Leaf& leaf : leaves)
    while (leaf.free() > 0 && missing() > 0) nodes_.push_back(leaf.next++);
}

}  // namespace amsp
