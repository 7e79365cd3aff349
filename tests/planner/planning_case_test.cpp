#include "planner/search/planning_case.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "core/error.h"
#include "tests/core/message_of.h"
#include "tests/planner/cases.h"

namespace amsp {
namespace {

TEST(PlanningCase, TakesTheScenariosPlanForTodays) {
  const PlanningCase question = tiny_case(2, 4, {"plan=zero1"});
  EXPECT_EQ(question.today, (ShardingPlan{{1, 1}, {1, 1}, {4, 2}, {4, 2}, {}}));
  EXPECT_EQ(question.today_name, "zero1");
  EXPECT_EQ(question.scenario.plan.p, (Mesh{1, 1}));
}

TEST(PlanningCase, NeedsNoPlan) {
  const PlanningCase question = tiny_case(2, 4, {"plan=null"});
  EXPECT_EQ(question.today, std::nullopt);
  EXPECT_EQ(question.scenario.plan.dp, (Mesh{4, 2}));
}

TEST(PlanningCase, SearchesOnPartOfTheCluster) {
  const PlanningCase question = tiny_case(2, 4, {R"(plan={"dp": "2x2"})"});
  EXPECT_EQ(question.today, std::nullopt);
  EXPECT_EQ(question.scenario.plan.dp, (Mesh{2, 2}));
  const PlanningCase named = tiny_case(2, 4, {R"(plan={"name": "zero3", "dp": "2x2"})"});
  EXPECT_EQ(named.today->p, (Mesh{2, 2}));
}

struct BadCase {
  const char* name;
  const char* override;
  const char* message;
};
std::ostream& operator<<(std::ostream& out, const BadCase& c) {
  return out << c.name;
}
class BadPlanningCase : public testing::TestWithParam<BadCase> {};

TEST_P(BadPlanningCase, IsRefusedAsAScenarioWouldBe) {
  EXPECT_EQ(message_of([] { tiny_case(2, 4, {GetParam().override}); }), GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(
    , BadPlanningCase,
    testing::Values(
        BadCase{
            "UnknownPlan", "plan=zero9",
            "tiny.json#/plan: 'zero9' is not a known plan; did you mean 'zero1'? (allowed: ddp, "
            "zero1, zero2, zero3, zeropp, mics-K, hsdp-K, amsp, or meshes p, g, os)"},
        BadCase{
            "BadDp", R"(plan={"dp":"4"})",
            "tiny.json#/plan/dp: must be a mesh of GPUs per node x nodes such as \"8x4\", found "
            "\"4\""},
        BadCase{"OtherKey", "cluster.nods=1",
                "tiny.json#/cluster/nods: is not a known key; did you mean 'node'? (allowed: "
                "collectives, fabric, "
                "gpu, name, node, nodes, preset, profile, profile_policy)"}),
    [](const auto& test) { return test.param.name; });

TEST(PlanningCase, RefusesATodayThatBreaksARule) {
  EXPECT_THROW(tiny_case(2, 4, {R"(plan={"p":"3x1","g":"3x1","os":"3x1"})"}), InfeasibleError);
}

struct AxesCase {
  const char* text;
  const char* message;  // nullptr: allowed
};
std::ostream& operator<<(std::ostream& out, const AxesCase& c) {
  return out << c.text;
}
class Axes : public testing::TestWithParam<AxesCase> {};

TEST_P(Axes, AreReadOrRefused) {
  const std::string message = message_of([] { parse_axes(GetParam().text); });
  EXPECT_EQ(message, GetParam().message == nullptr ? "(accepted)" : GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(
    , Axes,
    testing::Values(
        AxesCase{"plan", nullptr}, AxesCase{"plan,p2,micro_batch,recompute", nullptr},
        AxesCase{"recompute", "--search: must contain 'plan', found \"recompute\""},
        AxesCase{"plan,recompte",
                 "--search: 'recompte' is nothing to search; did you mean 'recompute'? (allowed: "
                 "plan, p2, micro_batch, recompute)"},
        AxesCase{"plan,",
                 "--search: '' is nothing to search (allowed: plan, p2, micro_batch, "
                 "recompute)"}));

TEST(Candidates, KeepTheGlobalBatchInEveryMicroBatchSize) {
  const PlanningCase question =
      tiny_case(1, 4, {"training.micro_batch=2", "training.micro_batches=6"});
  const PlanSpace space = enumerate_plans({4, 1});
  SearchAxes axes;
  axes.micro_batch = axes.recompute = true;
  const auto all = candidates(question.scenario, space, axes, {});
  std::set<int> sizes;
  for (const Candidate& candidate : all) {
    EXPECT_EQ(candidate.training.micro_batch * candidate.training.micro_batches, 12);
    sizes.insert(candidate.training.micro_batch);
  }
  EXPECT_EQ(sizes, (std::set<int>{1, 2, 3, 4, 6, 12}));
  EXPECT_EQ(all.size(), space.plans.size() * 6 * 2);
}

TEST(Candidates, AreTheSpaceOnceAndWhatElseIsWanted) {
  const PlanningCase question = tiny_case(2, 4);
  const PlanSpace space = enumerate_plans({4, 2});
  const ShardingPlan known = space.plans[3];
  ShardingPlan zeropp{{4, 2}, {4, 2}, {4, 2}, {4, 2}, Mesh{4, 1}};
  const auto all = candidates(question.scenario, space, {}, {known, zeropp, zeropp});
  EXPECT_EQ(all.size(), space.plans.size() + 1);
  EXPECT_EQ(all.back().plan, zeropp);
  SearchAxes axes;
  axes.secondary = true;
  std::size_t secondary = 0;
  for (const ShardingPlan& plan : space.plans) secondary += with_secondary(plan).size();
  EXPECT_EQ(candidates(question.scenario, space, axes, {zeropp}).size(),
            space.plans.size() + secondary);
}

}  // namespace
}  // namespace amsp
