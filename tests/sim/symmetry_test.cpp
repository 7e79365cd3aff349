#include "sim/symmetry.h"

#include <gtest/gtest.h>

#include "lowering/load_graph.h"
#include "tests/lowering/small_cluster.h"

namespace amsp {
namespace {

Symmetry symmetry_of(const SmallCase& c) {
  return find_symmetry(c.lowering);
}

EnginePolicy flat() {
  EnginePolicy engine;
  engine.os_sharding = OsSharding::kFlat;
  engine.param_update = ParamUpdate::kAllGather;
  return engine;
}

TEST(Symmetry, AHomogeneousClusterHasOneClassOfRanks) {
  const SmallCase c({{1, 1}, {1, 1}, {1, 1}, {2, 4}, {}}, flat());
  const Symmetry symmetry = symmetry_of(c);
  EXPECT_EQ(symmetry.ranks.count(), 1);
  EXPECT_EQ(symmetry.groups.count(), 1);
}

TEST(Symmetry, ClassesDoNotGrowWithTheCluster) {
  for (const int nodes : {2, 4, 8, 16}) {
    const SmallCase c({{2, 1}, {2, 1}, {2, 2}, {2, nodes}, {}}, flat());
    EXPECT_LE(symmetry_of(c).ranks.count(), 2) << nodes;
  }
}

TEST(Symmetry, UnequalOptimizerShardsSplitRanks) {
  // Whole tensors to two owners of unequal load: every rank is like those at its position.
  const ShardingPlan plan{{1, 1}, {1, 1}, {2, 1}, {2, 4}, {}};
  EnginePolicy engine;
  engine.param_update = ParamUpdate::kAllGather;
  const SmallCase c(plan, engine);
  const auto& works = c.graph.compute_works();
  const auto unequal = std::any_of(works.begin(), works.end(), [](const ComputeWork& work) {
    return work.bytes_by_owner.size() == 2 && work.bytes_by_owner[0] != work.bytes_by_owner[1];
  });
  ASSERT_TRUE(unequal);
  const Symmetry symmetry = symmetry_of(c);
  for (Rank rank = 0; rank < 8; ++rank)
    EXPECT_EQ(symmetry.ranks.of[static_cast<std::size_t>(rank)], rank % 2);
}

TEST(Symmetry, IsEquitable) {
  const SmallCase c({{1, 1}, {2, 1}, {2, 1}, {2, 4}, {}});
  const LoadGraph& loads = c.lowering.load_graph();
  const Symmetry symmetry = find_symmetry(c.lowering);
  // The row of a link: how often each (class of group, label) loads it.
  const auto row = [&](LinkId link) {
    std::map<std::pair<int, int>, int> counts;
    for (const LoadGraph::Edge& edge : loads.groups_of(link))
      ++counts[{symmetry.groups.of[static_cast<std::size_t>(edge.end)], edge.label}];
    return counts;
  };
  for (LinkId link = 0; link < loads.link_count(); ++link) {
    const int c_of = symmetry.links.of[static_cast<std::size_t>(link)];
    EXPECT_EQ(row(link), row(symmetry.links.first[static_cast<std::size_t>(c_of)]));
  }
}

}  // namespace
}  // namespace amsp
