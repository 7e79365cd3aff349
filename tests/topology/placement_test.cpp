#include "topology/spec/placement.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/error.h"

namespace amsp {
namespace {

ClusterSpec cluster(int nodes, int nodes_per_leaf) {
  ClusterSpec spec;
  spec.nodes = nodes;
  spec.node.gpus = 8;
  spec.fabric.nodes_per_leaf = nodes_per_leaf;
  return spec;
}

std::vector<int> nodes_of(const Placement& placement) {
  std::vector<int> nodes;
  for (int i = 0; i < placement.dp().inter; ++i) nodes.push_back(placement.node(i));
  return nodes;
}

struct PlacementCase {
  const char* name;
  int nodes, nodes_per_leaf, mesh_nodes, block_nodes;
  std::vector<int> expected;
};
class PlacementOf : public testing::TestWithParam<PlacementCase> {};

TEST_P(PlacementOf, MatchesWhatOneDrawsByHand) {
  const PlacementCase& c = GetParam();
  EXPECT_EQ(
      nodes_of(Placement(cluster(c.nodes, c.nodes_per_leaf), {8, c.mesh_nodes}, c.block_nodes)),
      c.expected);
}

INSTANTIATE_TEST_SUITE_P(
    , PlacementOf,
    testing::Values(
        // leaves 0-3, 4-7, 8-11: a block each
        PlacementCase{"BlocksFillLeaves", 12, 4, 12, 4, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}},
        // leaves 0-4, 5-9, 10-14, 15-19: a block each, then the fifth nodes make up the last block
        PlacementCase{"BlocksOf4OnLeavesOf5", 20, 5, 20, 4, {0,  1,  2,  3,  5,  6,  7, 8, 10, 11,
                                                             12, 13, 15, 16, 17, 18, 4, 9, 14, 19}},
        // whole leaves suffice: the fifth nodes stay free
        PlacementCase{"LeavesOf5PartlyUsed", 20, 5, 8, 4, {0, 1, 2, 3, 5, 6, 7, 8}},
        PlacementCase{"TwoBlocksPerLeaf", 10, 5, 8, 2, {0, 1, 2, 3, 5, 6, 7, 8}},
        // no leaf holds 8 nodes: consecutive nodes, so a block takes whole leaves where it can
        PlacementCase{"BlocksOf8OnLeavesOf4",
                      16,
                      4,
                      16,
                      8,
                      {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}},
        PlacementCase{"BlocksOf6OnLeavesOf4", 12, 4, 12, 6, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}},
        // the last leaf, 8-9, has no room for a block of 4; both blocks fit before
        PlacementCase{"SmallLastLeaf", 10, 4, 8, 4, {0, 1, 2, 3, 4, 5, 6, 7}},
        // blocks of 3: 0-2 and 4-6 on their leaves, the third from what is left: 3, 7, 8
        PlacementCase{"LeftoversMeet", 9, 4, 9, 3, {0, 1, 2, 4, 5, 6, 3, 7, 8}},
        // half a block at the end takes what is left
        PlacementCase{"HalfABlock", 8, 4, 6, 4, {0, 1, 2, 3, 4, 5}},
        PlacementCase{"SingleNodes", 4, 2, 3, 1, {0, 1, 2}},
        PlacementCase{"OneNodeWithoutFabric", 1, 0, 1, 1, {0}}),
    [](const auto& param) { return param.param.name; });

TEST(Placement, EveryMeshNodeHasItsOwnNodeAndWholeBlocksShareALeaf) {
  for (int per_leaf = 1; per_leaf <= 6; ++per_leaf)
    for (int nodes = 1; nodes <= 13; ++nodes)
      for (int block = 1; block <= nodes; ++block) {
        SCOPED_TRACE(testing::Message()
                     << nodes << " nodes, " << per_leaf << " per leaf, blocks of " << block);
        const int blocks = nodes / block;
        const Placement placement(cluster(nodes, per_leaf), {8, blocks * block}, block);
        std::vector<int> used = nodes_of(placement);
        int together = 0;
        for (int b = 0; b < blocks; ++b) {
          const auto leaf = [&](int i) { return placement.node(b * block + i) / per_leaf; };
          int same = 0;
          for (int i = 0; i < block; ++i) same += leaf(i) == leaf(0);
          together += same == block;
        }
        // as many as the leaves hold, the last of which may be smaller
        const int held = nodes / per_leaf * (per_leaf / block) + nodes % per_leaf / block;
        EXPECT_EQ(together, std::min(blocks, held));
        std::sort(used.begin(), used.end());
        EXPECT_EQ(std::unique(used.begin(), used.end()), used.end());
        EXPECT_GE(used.front(), 0);
        EXPECT_LT(used.back(), nodes);
      }
}

TEST(Placement, ScatteredTakesALeafAfterTheOther) {
  const auto scattered = [](int nodes, int per_leaf, int mesh_nodes) {
    return nodes_of(
        Placement(cluster(nodes, per_leaf), {8, mesh_nodes}, 4, {PlacementKind::kScattered, {}}));
  };
  EXPECT_EQ(scattered(8, 4, 8), (std::vector<int>{0, 4, 1, 5, 2, 6, 3, 7}));
  EXPECT_EQ(scattered(12, 4, 4), (std::vector<int>{0, 4, 8, 1}));
  // the last leaf, 8-9, is used up after its second node
  EXPECT_EQ(scattered(10, 4, 10), (std::vector<int>{0, 4, 8, 1, 5, 9, 2, 6, 3, 7}));
  EXPECT_EQ(scattered(4, 4, 3), (std::vector<int>{0, 1, 2}));
}

TEST(Placement, ExplicitIsAsListed) {
  const PlacementSpec spec{PlacementKind::kExplicit, {3, 0, 2}};
  EXPECT_EQ(nodes_of(Placement(cluster(4, 2), {8, 3}, 1, spec)), spec.nodes);
  EXPECT_THROW(Placement(cluster(4, 2), {8, 2}, 1, spec), InternalError);
  EXPECT_THROW(Placement(cluster(4, 2), {8, 2}, 1, {PlacementKind::kExplicit, {0, 0}}),
               InternalError);
  EXPECT_THROW(Placement(cluster(4, 2), {8, 2}, 1, {PlacementKind::kExplicit, {0, 4}}),
               InternalError);
}

TEST(Placement, AddressesCountGpusInsideTheNodeFirst) {
  const Placement placement(cluster(10, 5), {2, 8}, 4);
  // rank 9 is GPU 1 of mesh node 4, which begins the second block: node 5
  EXPECT_EQ(placement.address(9).node, 5);
  EXPECT_EQ(placement.address(9).gpu, 1);
  EXPECT_EQ(placement.address(0).node, 0);
  EXPECT_EQ(placement.address(0).gpu, 0);
}

TEST(Placement, RefusesWhatDoesNotFit) {
  EXPECT_THROW(Placement(cluster(4, 4), {9, 1}, 1), InternalError);
  EXPECT_THROW(Placement(cluster(4, 4), {8, 5}, 1), InternalError);
  EXPECT_THROW(Placement(cluster(4, 4), {8, 4}, 0), InternalError);
}

}  // namespace
}  // namespace amsp
