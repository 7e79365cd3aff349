// Folding: the same times for less work, and why each condition of docs/folding.md is needed.
#include "sim/fold.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "sim/quantiser.h"
#include "tests/lowering/small_cluster.h"
#include "tests/sim/fold_cases.h"
#include "tests/sim/workload_maker.h"

namespace amsp {
namespace {

class FoldedEqualsFull : public testing::TestWithParam<int> {};

TEST_P(FoldedEqualsFull, OnGeneratedCases) {
  FoldCases cases(static_cast<std::uint32_t>(GetParam()));
  for (int i = 0; i < 5; ++i) expect_folded_equals_full(cases.next());
}

INSTANTIATE_TEST_SUITE_P(Seed, FoldedEqualsFull, testing::Range(0, 40));

TEST(FoldCases, CoverEveryKind) {
  std::map<std::string, int> plans;
  std::map<int, int> nvlinks, skews, overlaps;
  int spread = 0, uneven_leaves = 0, slow_gpus = 0, slow_links = 0, failures = 0;
  int rails = 0, cores = 0, unequal = 0, fabrics_by_links = 0, nodes_by_links = 0, scattered = 0;
  int hashed = 0;
  for (std::uint32_t seed = 0; seed < 40; ++seed) {
    FoldCases cases(seed);
    for (int i = 0; i < 5; ++i) {
      const FoldCase c = cases.next();
      EXPECT_LE(c.plan.dp.size(), 32);
      slow_gpus += !c.conditions.slow_gpus.empty();
      for (const Conditions::Links& links : c.conditions.links)
        ++(links.share > 0 ? slow_links : failures);
      ++plans[c.name.substr(0, c.name.find_first_of("- "))];
      ++nvlinks[static_cast<int>(c.cluster.node.nvlink)];
      ++skews[static_cast<int>(c.skew)];
      ++overlaps[4 * c.engine.overlap_gather + 2 * c.engine.overlap_all_reduce +
                 c.engine.overlap_broadcast];
      if (c.plan.os.size() > c.plan.p.size() && c.engine.os_sharding == OsSharding::kTensor)
        ++spread;
      const FabricSpec& fabric = c.cluster.fabric;
      if (c.cluster.nodes % fabric.nodes_per_leaf != 0) ++uneven_leaves;
      rails += fabric.rails > 1;
      cores += fabric.cores > 0;
      unequal += fabric.leaf_nodes.size() > 1;
      hashed += fabric.ecmp_flows > 0;
      fabrics_by_links += !fabric.cables.empty();
      nodes_by_links += !c.cluster.node.cables.empty();
      scattered += c.placement == PlacementKind::kScattered;
    }
  }
  EXPECT_EQ(plans.size(), 8U);  // ddp, zero1, zero2, zero3, zeropp, mics, hsdp, explicit
  EXPECT_EQ(nvlinks.size(), 3U);
  EXPECT_EQ(skews.size(), 4U);
  EXPECT_EQ(overlaps.size(), 8U);
  for (const auto& [plan, count] : plans) EXPECT_GE(count, 5) << plan;
  EXPECT_GE(spread, 20);
  EXPECT_GE(slow_gpus, 30);
  EXPECT_GE(slow_links, 20);
  EXPECT_GE(failures, 5);
  EXPECT_GE(uneven_leaves, 20);
  for (const int count :
       {rails, cores, unequal, fabrics_by_links, nodes_by_links, scattered, hashed})
    EXPECT_GE(count, 8);
}

TEST(Fold, CostsTheSameOnMoreNodes) {
  // 16 nodes instead of 8, all alike.
  EnginePolicy engine;
  engine.os_sharding = OsSharding::kFlat;
  std::size_t activities[2];
  for (const int i : {0, 1}) {
    const SmallCase c({{2, 1}, {2, 1}, {2, 2}, {2, 8 << i}, {}}, engine);
    activities[i] = fold(c.lowering).workload.activities.size();
  }
  EXPECT_EQ(activities[0], activities[1]);
}

TEST(Fold, SiblingsOnOneNicAreFoldedWithTheirRowSum) {
  // Two groups of mesh 1x2, alike, share the NIC of each node: one activity of the folded workload
  // uses more of a link than there is.
  FoldCase c{small_cluster(2),
             {{2, 1}, {2, 1}, {2, 1}, {2, 2}, {}},
             {},
             {},
             "siblings",
             Skew::kNone,
             PlacementKind::kPacked,
             {}};
  c.training.sequence_length = 256;
  c.training.optimizer = {"adam", 12, 28, "test"};
  const FoldSetup setup(c);
  const Workload workload = fold(setup.lowering).workload;
  double most = 0;
  for (const Workload::Shape& shape : workload.shapes)
    for (const Workload::Use& use : shape.uses)
      most = std::max(most, use.weight / workload.scales[static_cast<std::size_t>(use.resource)]);
  EXPECT_GT(most, 1.5);
  EXPECT_LE(most, 2 + 1e-9);
}

// Counterexamples: what goes wrong without a condition, by hand. Scales are 10.

TEST(FoldConditions, AMembersOwnWeightIsNotEnough) {
  // Two alike on one link. Folded with the row sum: 2 s as in full; with its own weight: 1 s.
  WorkloadMaker full(1);
  full.activity(1, {{0, 10}});
  full.activity(1, {{0, 10}});
  WorkloadMaker row_sum(1);
  row_sum.activity(1, {{0, 20}});
  WorkloadMaker own_weight(1);
  own_weight.activity(1, {{0, 10}});
  EXPECT_NEAR(full.play().end_s[0], 2, 1e-9);
  EXPECT_NEAR(row_sum.play().end_s[0], 2, 1e-9);
  EXPECT_NEAR(own_weight.play().end_s[0], 1, 1e-9);
}

TEST(FoldConditions, TheColumnSumIsNotEnough) {
  // a and b are alike; each uses its own link and the one they share. Column: 10 on each of two
  // links. Row of the shared link: 20.
  WorkloadMaker full(3);
  full.activity(1, {{0, 10}, {2, 10}});
  full.activity(1, {{1, 10}, {2, 10}});
  WorkloadMaker rows(2);
  rows.activity(1, {{0, 10}, {1, 20}});
  WorkloadMaker columns(2);
  columns.activity(1, {{0, 10}, {1, 10}});
  EXPECT_NEAR(full.play().end_s[0], 2, 1e-9);
  EXPECT_NEAR(rows.play().end_s[0], 2, 1e-9);
  EXPECT_NEAR(columns.play().end_s[0], 1, 1e-9);
}

TEST(FoldConditions, LoadsSummedOverOperationsAreNotEnough) {
  // Operations A, then B, each by two groups. Both links carry 20 in all, in both workloads; but
  // where a link carries A and B of one group nobody waits, where it carries A twice both do.
  const auto end = [](int link_of_a2, int link_of_b1) {
    WorkloadMaker w(2);
    const int a1 = w.activity(1, {{0, 10}});
    const int a2 = w.activity(1, {{link_of_a2, 10}});
    w.activity(1, {{link_of_b1, 10}}, {a1});
    w.activity(1, {{1, 10}}, {a2});
    return w.play().end_s.back();
  };
  EXPECT_NEAR(end(1, 0), 2, 1e-9);
  EXPECT_NEAR(end(0, 1), 4, 1e-9);
}

TEST(FoldConditions, WeightsAreRoundedBeforeTheyAreAdded) {
  // 600 small users are each dropped in full; rounded after adding they would be 0.6 of the link.
  EXPECT_EQ(quantise({0.001, 1.0}).weights.front(), 0);
  EXPECT_GT(quantise({600 * 0.001, 1.0}).weights.front(), 0);
}

TEST(FoldConditions, AGroupWaitsForEveryClassOfItsMembers) {
  // A fast and a slow rank, then their collective.
  const auto end = [](std::vector<int> members) {
    WorkloadMaker w(2);
    w.activity(1, {{0, 10}});
    w.activity(3, {{1, 10}});
    w.activity(1, {}, std::move(members));
    return w.play().end_s.back();
  };
  EXPECT_NEAR(end({0, 1}), 4, 1e-9);
  EXPECT_NEAR(end({0}), 2, 1e-9);
}

TEST(FoldConditions, UnequalTimesAreNotOfOneClass) {
  // Two ranks whose shards differ start on a shared link one after the other, not together.
  const auto ends = [](double shard_s) {
    WorkloadMaker w(1);
    const int a = w.activity(1, {});
    const int b = w.activity(shard_s, {});
    w.activity(1, {{0, 10}}, {a});
    w.activity(1, {{0, 10}}, {b});
    return w.play().end_s[2];
  };
  EXPECT_NEAR(ends(1), 3, 1e-9);
  EXPECT_NEAR(ends(2), 2, 1e-9);
}

TEST(FoldConditions, FairnessIsOnPaceNotByPlayer) {
  // Four alike and one other on a link, all of 10: everyone runs at 1/5. One player of weight 40
  // against one of 10 does as well, since pace is equal: 40/5 + 10/5 = 10. Shares by player would
  // give the other one half of the link.
  WorkloadMaker full(1);
  for (int i = 0; i < 4; ++i) full.activity(1, {{0, 10}});
  full.activity(1, {{0, 10}});
  WorkloadMaker folded(1);
  folded.activity(1, {{0, 40}});
  folded.activity(1, {{0, 10}});
  EXPECT_NEAR(full.play().end_s.back(), 5, 1e-9);
  EXPECT_NEAR(folded.play().end_s.back(), 5, 1e-9);
}

}  // namespace
}  // namespace amsp
