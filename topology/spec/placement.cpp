#include "topology/spec/placement.h"

#include <algorithm>

#include "core/error.h"

namespace amsp {
namespace {

/// Hands out the nodes of each leaf in order.
class Leaves {
 public:
  explicit Leaves(const ClusterSpec& cluster)
      : nodes_(leaf_groups(cluster)), given_(nodes_.size()) {}

  std::size_t count() const { return nodes_.size(); }
  int free(std::size_t leaf) const { return static_cast<int>(nodes_[leaf].size() - given_[leaf]); }
  int take(std::size_t leaf) { return nodes_[leaf][given_[leaf]++]; }

 private:
  std::vector<std::vector<int>> nodes_;
  std::vector<std::size_t> given_;
};

std::vector<int> packed(Leaves leaves, int count, int block) {
  std::vector<int> nodes;
  const auto missing = [&] { return count - static_cast<int>(nodes.size()); };
  for (std::size_t leaf = 0; leaf < leaves.count(); ++leaf)
    while (leaves.free(leaf) >= block && missing() >= block)
      for (int i = 0; i < block; ++i) nodes.push_back(leaves.take(leaf));
  for (std::size_t leaf = 0; leaf < leaves.count(); ++leaf)
    while (leaves.free(leaf) > 0 && missing() > 0) nodes.push_back(leaves.take(leaf));
  return nodes;
}

std::vector<int> scattered(Leaves leaves, int count) {
  std::vector<int> nodes;
  for (std::size_t leaf = 0; static_cast<int>(nodes.size()) < count;
       leaf = (leaf + 1) % leaves.count())
    if (leaves.free(leaf) > 0) nodes.push_back(leaves.take(leaf));
  return nodes;
}

}  // namespace

const char* to_string(PlacementKind kind) {
  switch (kind) {
    case PlacementKind::kPacked:
      return "packed";
    case PlacementKind::kScattered:
      return "scattered";
    case PlacementKind::kExplicit:
      return "explicit";
  }
  throw InternalError("a PlacementKind outside its enumeration");
}

Placement::Placement(const ClusterSpec& cluster, Mesh dp, int block_nodes,
                     const PlacementSpec& spec)
    : dp_(dp) {
  AMSP_CHECK(dp.intra >= 1 && dp.intra <= cluster.node.gpus && dp.inter >= 1 &&
                 dp.inter <= cluster.nodes && block_nodes >= 1,
             "{} in blocks of {} nodes does not fit {} nodes of {} GPUs", to_string(dp),
             block_nodes, cluster.nodes, cluster.node.gpus);
  switch (spec.kind) {
    case PlacementKind::kPacked:
      nodes_ = packed(Leaves(cluster), dp.inter, block_nodes);
      break;
    case PlacementKind::kScattered:
      nodes_ = scattered(Leaves(cluster), dp.inter);
      break;
    case PlacementKind::kExplicit: {
      std::vector<bool> used(index(cluster.nodes));
      for (const int node : spec.nodes) {
        AMSP_CHECK(node >= 0 && node < cluster.nodes && !used[index(node)],
                   "node {} can't be placed on", node);
        used[index(node)] = true;
      }
      nodes_ = spec.nodes;
      break;
    }
  }
  AMSP_CHECK(static_cast<int>(nodes_.size()) == dp.inter, "{} nodes were placed for {}",
             nodes_.size(), to_string(dp));
}

}  // namespace amsp
