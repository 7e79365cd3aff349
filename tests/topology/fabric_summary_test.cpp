#include "topology/survey/fabric_summary.h"

#include <gtest/gtest.h>

#include "tests/topology/lab_cluster.h"
#include "topology/survey/bisection.h"

namespace amsp {
namespace {

TEST(Bisection, IsWhatTheCutCarries) {
  // halves of 2 nodes: 8 NICs of 25 GB/s into 2 x 100 GB/s of the leaf
  const ClusterGraph plain(lab(4, kPlain));
  const auto cuts = bisections(plain);
  ASSERT_EQ(cuts.size(), 2U);
  EXPECT_EQ(cuts[0].halves, "nodes 0-1 | 2-3");
  EXPECT_EQ(cuts[0].gpus, 8);
  EXPECT_EQ(cuts[0].bandwidth, 200_GBps);
  EXPECT_EQ(cuts[0].capacity, 192_GBps);  // 8 NICs at their best
  EXPECT_DOUBLE_EQ(cuts[0].of_full, 1);
  // 2:1 halves what crosses leaves, and nothing else: even and odd nodes meet on their leaf
  const ClusterGraph thin(lab(4, kThin));
  const auto halved = bisections(thin);
  EXPECT_EQ(halved[0].bandwidth, 100_GBps);
  EXPECT_DOUBLE_EQ(halved[0].of_full, 0.5);
  EXPECT_EQ(halved[1].halves, "nodes even | odd");
  EXPECT_DOUBLE_EQ(halved[1].of_full, 1);
}

TEST(Bisection, GoesThroughTheCore) {
  // pods of 2 nodes: 200 GB/s up to the spines, a quarter of it to the cores
  EXPECT_EQ(bisections(ClusterGraph(lab(4, kCore)))[0].bandwidth, 50_GBps);
}

TEST(Bisection, OfOneNodeIsItsNvlink) {
  const ClusterGraph graph(lab(1, kPlain));
  const auto cuts = bisections(graph);
  EXPECT_EQ(cuts[0].halves, "GPUs 0-1 | 2-3");
  EXPECT_EQ(cuts[0].bandwidth, 400_GBps);
  EXPECT_DOUBLE_EQ(cuts[0].of_full, 1);
}

TEST(Switches, PortsAndOversubscription) {
  const ClusterGraph thin(lab(4, kThin));
  const auto sorts = switch_sorts(thin);
  ASSERT_EQ(sorts.size(), 2U);
  EXPECT_EQ(sorts[0].kind, VertexKind::kLeaf);
  EXPECT_EQ(sorts[0].count, 2);
  EXPECT_EQ(sorts[0].cables_down, 8);
  EXPECT_EQ(sorts[0].cables_up, 2);
  EXPECT_EQ(sorts[0].down, 200_GBps);
  EXPECT_EQ(sorts[0].up, 100_GBps);
  EXPECT_DOUBLE_EQ(sorts[0].ports, 12);  // 8 down, 4 up
  EXPECT_DOUBLE_EQ(sorts[0].oversubscription(), 2);
  EXPECT_EQ(sorts[1].kind, VertexKind::kSpine);
  EXPECT_EQ(sorts[1].level, 2);
  EXPECT_EQ(sorts[1].cables_up, 0);

  const auto core = switch_sorts(ClusterGraph(lab(4, kCore)));
  ASSERT_EQ(core.size(), 3U);
  EXPECT_DOUBLE_EQ(core[1].oversubscription(), 4);
  EXPECT_EQ(core[2].kind, VertexKind::kCore);

  // unequal leaves are two sorts
  const auto unequal = switch_sorts(
      ClusterGraph(lab(3, R"({"nodes_per_leaf": [2, 1], "spines": 1, "oversubscription": 1})")));
  ASSERT_EQ(unequal.size(), 3U);
  EXPECT_DOUBLE_EQ(unequal[0].oversubscription() * unequal[1].oversubscription(), 0.5);
}

TEST(Cables, AreCountedByKind) {
  const auto sorts = cable_sorts(ClusterGraph(lab(4, kPlain)));
  ASSERT_EQ(sorts.size(), 4U);
  EXPECT_EQ(sorts[0].count, 16);  // GPU - NVSwitch
  EXPECT_EQ(sorts[1].count, 16);  // GPU - NIC
  EXPECT_EQ(sorts[2].count, 16);  // NIC - leaf
  EXPECT_EQ(sorts[2].capacity, 24_GBps);
  EXPECT_EQ(sorts[3].count, 4);  // leaf - spine
  EXPECT_EQ(sorts[3].kind, LinkKind::kFabric);
}

}  // namespace
}  // namespace amsp
