#include "training/plan.h"

#include <gtest/gtest.h>

#include "core/error.h"

namespace amsp {
namespace {

ClusterSpec cluster_of(int nodes, int gpus) {
  ClusterSpec cluster;
  cluster.nodes = nodes;
  cluster.node.gpus = gpus;
  return cluster;
}

struct RuleCase {
  const char* name;
  ShardingPlan plan;
  const char* message;  // nullptr: allowed
};
std::ostream& operator<<(std::ostream& out, const RuleCase& c) {
  return out << c.name;
}

class PlanRules : public testing::TestWithParam<RuleCase> {};

TEST_P(PlanRules, NameTheBrokenRule) {
  const auto broken = broken_rule(GetParam().plan, cluster_of(8, 8));
  EXPECT_EQ(broken.value_or("allowed"),
            GetParam().message == nullptr ? "allowed" : GetParam().message);
}

constexpr Mesh kOne{1, 1};
constexpr Mesh kDp{8, 8};
INSTANTIATE_TEST_SUITE_P(
    , PlanRules,
    testing::Values(
        RuleCase{"Ddp", {kOne, kOne, kOne, kDp, {}}, nullptr},
        RuleCase{"Amsp30B", {{8, 1}, {8, 1}, {8, 4}, kDp, {}}, nullptr},
        RuleCase{"Zeropp", {kDp, kDp, kDp, kDp, Mesh{8, 1}}, nullptr},
        RuleCase{"ThreeOfEight",
                 {{3, 1}, {3, 1}, {3, 1}, kDp, {}},
                 "nesting: os 3x1 must divide dp 8x8 on both axes; 3 GPUs per node don't divide 8"},
        RuleCase{"PDoesNotDivideOs",
                 {{8, 2}, {8, 2}, {8, 1}, kDp, {}},
                 "nesting: g 8x2 must divide os 8x1 on both axes; 2 nodes don't divide 1"},
        RuleCase{
            "FewestNodes",
            {kOne, kOne, {4, 2}, kDp, {}},
            "fewest nodes: os 4x2 spreads over 2 nodes but uses 4 of the 8 GPUs of dp in each"},
        RuleCase{"GradientsBetween",
                 {kOne, {2, 1}, {4, 1}, kDp, {}},
                 "gradients: g 2x1 must be p 1x1 or os 4x1"},
        RuleCase{"TooLarge",
                 {kOne, kOne, kOne, {8, 9}, {}},
                 "size: dp 8x9 doesn't fit into the cluster of 8 nodes with 8 GPUs each"},
        RuleCase{"SecondaryDoesNotDivide",
                 {{4, 1}, {4, 1}, {4, 1}, kDp, Mesh{8, 1}},
                 "nesting: p2 8x1 must divide p 4x1 on both axes; 8 GPUs per node don't divide 4"},
        RuleCase{"SecondaryIsNoSmaller",
                 {{4, 1}, {4, 1}, {4, 1}, kDp, Mesh{4, 1}},
                 "secondary parameters: p2 4x1 must be smaller than p 4x1"}),
    [](const auto& test) { return test.param.name; });

/// broken_rule(), written down a second time, axis by axis.
bool allowed(const ShardingPlan& plan) {
  const auto nested = [](int a, int b, int c, int d) {
    return b % a == 0 && c % b == 0 && d % c == 0;
  };
  const auto few = [&](Mesh m) { return m.inter == 1 || m.intra == plan.dp.intra; };
  const bool equals = (plan.g.intra == plan.p.intra && plan.g.inter == plan.p.inter) ||
                      (plan.g.intra == plan.os.intra && plan.g.inter == plan.os.inter);
  return nested(plan.p.intra, plan.g.intra, plan.os.intra, plan.dp.intra) &&
         nested(plan.p.inter, plan.g.inter, plan.os.inter, plan.dp.inter) && few(plan.p) &&
         few(plan.g) && few(plan.os) && equals;
}

TEST(PlanRulesExhaustive, AgreeWithASecondStatementOnAllSixTuples) {
  int count = 0;
  for (int r = 1; r <= 4; ++r)
    for (int n = 1; n <= 4; ++n) {
      const auto each = [&](auto visit) {
        for (int a = 1; a <= r; ++a)
          for (int b = 1; b <= n; ++b) visit(Mesh{a, b});
      };
      each([&](Mesh p) {
        each([&](Mesh g) {
          each([&](Mesh os) {
            const ShardingPlan plan{p, g, os, {r, n}, {}};
            ASSERT_EQ(!broken_rule(plan, cluster_of(n, r)), allowed(plan)) << to_string(plan);
            count += allowed(plan) ? 1 : 0;
          });
        });
      });
    }
  EXPECT_GT(count, 100);
}

struct NameCase {
  const char* name;
  ShardingPlan plan;
};
std::ostream& operator<<(std::ostream& out, const NameCase& c) {
  return out << c.name;
}
class NamedPlan : public testing::TestWithParam<NameCase> {};

TEST_P(NamedPlan, HasItsMeshes) {
  EXPECT_EQ(named_plan(GetParam().name, kDp, "llama-13b", "x"), GetParam().plan);
}

INSTANTIATE_TEST_SUITE_P(, NamedPlan,
                         testing::Values(NameCase{"ddp", {kOne, kOne, kOne, kDp, {}}},
                                         NameCase{"zero1", {kOne, kOne, kDp, kDp, {}}},
                                         NameCase{"zero2", {kOne, kDp, kDp, kDp, {}}},
                                         NameCase{"zero3", {kDp, kDp, kDp, kDp, {}}},
                                         NameCase{"zeropp", {kDp, kDp, kDp, kDp, Mesh{8, 1}}},
                                         NameCase{"mics-8", {{8, 1}, {8, 1}, {8, 1}, kDp, {}}},
                                         NameCase{"mics-16", {{8, 2}, {8, 2}, {8, 2}, kDp, {}}},
                                         NameCase{"hsdp-8x4", {{8, 4}, {8, 4}, {8, 4}, kDp, {}}},
                                         NameCase{"amsp", {{4, 1}, {4, 1}, {8, 1}, kDp, {}}}));

TEST(NamedPlanErrors, SayWhatIsAllowed) {
  const auto message = [](const char* name, const char* model) -> std::string {
    try {
      named_plan(name, kDp, model, "s.json#/plan");
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "was accepted";
  };
  EXPECT_EQ(
      message("zero4", "llama-7b"),
      "s.json#/plan: 'zero4' is not a known plan; did you mean 'zero1'? (allowed: ddp, zero1, "
      "zero2, zero3, zeropp, mics-K, hsdp-K, amsp, or meshes p, g, os)");
  EXPECT_EQ(message("mics-12", "llama-7b"),
            "s.json#/plan: 'mics-12' doesn't fill whole nodes of 8 GPUs");
  EXPECT_EQ(message("mics-", "llama-7b"),
            "s.json#/plan: 'mics-' needs a number of GPUs or a mesh, such as 'mics-16' or "
            "'mics-8x2'");
  EXPECT_EQ(message("amsp", "qwen"),
            "s.json#/plan: 'amsp' is the plan of the paper's Table IV, which has llama-7b, "
            "llama-13b and llama-30b but not 'qwen'; give the meshes p, g, os");
}

}  // namespace
}  // namespace amsp
