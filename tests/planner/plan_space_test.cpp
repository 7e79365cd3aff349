#include "planner/search/plan_space.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>

namespace amsp {
namespace {

ClusterSpec cluster_of(Mesh dp) {
  ClusterSpec cluster;
  cluster.nodes = dp.inter;
  cluster.node.gpus = dp.intra;
  return cluster;
}

using Tuple = std::array<int, 6>;  // s0_p, s1_p, s0_g, s1_g, s0_os, s1_os

/// Whether tiles of `a` side by side fill `b` exactly.
bool fills(int a, int b) {
  int covered = 0;
  while (covered < b) covered += a;
  return covered == b;
}

/// The rules of the plan space from their text, axis by axis, by trying all six sizes. `step` skips
/// what cannot nest early, which alone makes 72 x 18 possible; without it nothing is skipped.
struct Oracle {
  int r, n;
  std::set<Tuple> plans;
  double nested = 0, on_few_nodes = 0;

  bool few(int s0, int s1) const { return s1 == 1 || s0 == r; }

  void visit(const Tuple& t) {
    const auto [p0, p1, g0, g1, o0, o1] = t;
    if (!fills(o0, r) || !fills(g0, o0) || !fills(p0, g0)) return;
    if (!fills(o1, n) || !fills(g1, o1) || !fills(p1, g1)) return;
    ++nested;
    if (!few(p0, p1) || !few(g0, g1) || !few(o0, o1)) return;
    ++on_few_nodes;
    const bool like_p = g0 == p0 && g1 == p1;
    const bool like_os = g0 == o0 && g1 == o1;
    if (like_p || like_os) plans.insert(t);
  }

  void try_all(bool skip) {
    for (int o0 = 1; o0 <= r; ++o0)
      for (int o1 = 1; o1 <= n; ++o1) {
        if (skip && (!fills(o0, r) || !fills(o1, n))) continue;
        for (int g0 = 1; g0 <= r; ++g0)
          for (int g1 = 1; g1 <= n; ++g1) {
            if (skip && (!fills(g0, o0) || !fills(g1, o1))) continue;
            for (int p0 = 1; p0 <= r; ++p0)
              for (int p1 = 1; p1 <= n; ++p1) visit({p0, p1, g0, g1, o0, o1});
          }
      }
  }
};

void expect_equal(int r, int n, bool skip) {
  SCOPED_TRACE(std::to_string(r) + " x " + std::to_string(n));
  Oracle oracle{r, n, {}};
  oracle.try_all(skip);
  const Mesh dp{r, n};
  const PlanSpace space = enumerate_plans(dp);
  std::set<Tuple> found;
  for (const ShardingPlan& plan : space.plans) {
    EXPECT_EQ(broken_rule(plan, cluster_of(dp)), std::nullopt) << to_string(plan);
    EXPECT_EQ(plan.dp, dp);
    EXPECT_FALSE(plan.p2);
    found.insert(
        {plan.p.intra, plan.p.inter, plan.g.intra, plan.g.inter, plan.os.intra, plan.os.inter});
  }
  EXPECT_EQ(found.size(), space.plans.size()) << "a plan stands twice";
  EXPECT_EQ(found, oracle.plans);
  const double all = static_cast<double>(r) * n * r * n * r * n;
  EXPECT_EQ(space.tuples, all);
  ASSERT_EQ(space.removed.size(), 3U);
  EXPECT_EQ(space.removed[0].rule, "nesting");
  EXPECT_EQ(space.removed[0].tuples, all - oracle.nested);
  EXPECT_EQ(space.removed[1].rule, "fewest nodes");
  EXPECT_EQ(space.removed[1].tuples, oracle.nested - oracle.on_few_nodes);
  EXPECT_EQ(space.removed[2].rule, "gradients");
  EXPECT_EQ(space.removed[2].tuples,
            oracle.on_few_nodes - static_cast<double>(oracle.plans.size()));
}

TEST(PlanSpace, IsAllTuplesThatTheRulesAllowOnEveryClusterUpTo16Ranks) {
  int clusters = 0;
  for (int r = 1; r <= 16; ++r)
    for (int n = 1; r * n <= 16; ++n) {
      expect_equal(r, n, false);
      ++clusters;
    }
  EXPECT_EQ(clusters, 50);
}

TEST(PlanSpace, IsAllTuplesThatTheRulesAllowOn8x6) {
  expect_equal(8, 6, false);
}

TEST(PlanSpace, IsAllTuplesThatTheRulesAllowOn6x4) {
  expect_equal(6, 4, false);
}

TEST(PlanSpace, IsAllTuplesThatTheRulesAllowOn72x18) {
  expect_equal(72, 18, true);
}

// 4 GPUs, one node: chains p | os of {1, 2, 4} are 6; the 3 with p < os have two places for g.
TEST(PlanSpace, OfFourGpusCountedByHand) {
  const PlanSpace space = enumerate_plans({4, 1});
  EXPECT_EQ(space.tuples, 64);
  EXPECT_EQ(space.plans.size(), 9U);
  EXPECT_EQ(space.removed[0].tuples, 64 - 10);  // p | g | os of three divisors: C(5, 3) = 10
  EXPECT_EQ(space.removed[1].tuples, 0);
  EXPECT_EQ(space.removed[2].tuples, 1);  // (1, 2, 4)
}

TEST(PlanSpace, SecondaryMeshesAreSmallerThanPAndObeyTheRules) {
  for (const Mesh dp : {Mesh{8, 6}, Mesh{6, 4}, Mesh{1, 4}, Mesh{4, 1}})
    for (const ShardingPlan& plan : enumerate_plans(dp).plans) {
      std::set<Mesh> found;
      for (const ShardingPlan& with : with_secondary(plan)) {
        EXPECT_EQ(broken_rule(with, cluster_of(dp)), std::nullopt) << to_string(with);
        found.insert(*with.p2);
      }
      std::set<Mesh> expected;
      for (int a = 1; a <= plan.p.intra; ++a)
        for (int b = 1; b <= plan.p.inter; ++b)
          if (fills(a, plan.p.intra) && fills(b, plan.p.inter) && Mesh{a, b} != plan.p &&
              (b == 1 || a == dp.intra))
            expected.insert({a, b});
      EXPECT_EQ(found, expected) << to_string(plan);
    }
}

}  // namespace
}  // namespace amsp
