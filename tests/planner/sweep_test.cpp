#include "planner/search/sweep.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "core/error.h"
#include "planner/report/report.h"
#include "planner/search/sensitivity.h"
#include "tests/core/message_of.h"
#include "tests/planner/cases.h"

namespace amsp {
namespace {

constexpr auto kSilent = [](const auto&...) {};

TEST(Sweep, GoesOnByTheRatioBeforeTheDots) {
  const PlanningCase base = tiny_case(2, 4, {"training.micro_batches=4"});
  std::vector<std::string> labels;
  for (const SweepCase& one : gpu_cases(base, "4,8,...,32")) {
    labels.push_back(one.label);
    ASSERT_TRUE(one.question);
    EXPECT_EQ(one.question->scenario.global_batch(), 32);  // as in the base
  }
  EXPECT_EQ(labels, (std::vector<std::string>{"4 GPUs", "8 GPUs", "16 GPUs", "32 GPUs"}));
  const auto cases = micro_batch_cases(base, "1,3,...,27,30");
  ASSERT_EQ(cases.size(), 5U);
  EXPECT_EQ(cases[3].question->scenario.training.micro_batches, 27);
  EXPECT_EQ(cases[3].question->scenario.global_batch(), 27 * 8);
}

struct ListCase {
  const char* list;
  const char* message;
};
std::ostream& operator<<(std::ostream& out, const ListCase& c) {
  return out << c.list;
}
class BadList : public testing::TestWithParam<ListCase> {};

TEST_P(BadList, SaysWhatIsWrong) {
  const PlanningCase base = tiny_case(2, 4);
  EXPECT_EQ(message_of([&] { gpu_cases(base, GetParam().list); }), GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(
    , BadList,
    testing::Values(
        ListCase{"4,x",
                 "--gpus: must be whole numbers from 1 to 1073741824 such as 8,16,...,1024, "
                 "found \"4,x\""},
        ListCase{"",
                 "--gpus: must be whole numbers from 1 to 1073741824 such as 8,16,...,1024, "
                 "found \"\""},
        ListCase{"8,4", "--gpus: must grow from number to number, found \"8,4\""},
        ListCase{
            "4,...,16",
            "--gpus: '...' must stand between two growing numbers, one a multiple of the other, "
            "and the last, such as 8,16,...,1024, found \"4,...,16\""},
        ListCase{
            "4,8,...",
            "--gpus: '...' must stand between two growing numbers, one a multiple of the other, "
            "and the last, such as 8,16,...,1024, found \"4,8,...\""},
        ListCase{"4,8,...,30",
                 "--gpus: '...' goes from 16 to 32 and misses 30, found "
                 "\"4,8,...,30\""},
        ListCase{"6", "--gpus: 6 GPUs don't fill nodes of 4"}));

TEST(Sweep, RefusesToVaryGpusThatTheScenarioFixes) {
  const PlanningCase base = tiny_case(2, 4, {R"(plan={"dp": "2x2"})"});
  EXPECT_EQ(message_of([&] { gpu_cases(base, "4,8"); }),
            "--gpus: tiny.json#/plan/dp: fixes the GPUs; leave it out to vary their number");
}

TEST(Sweep, KeepsACaseThatIsImpossibleAndSaysWhy) {
  const PlanningCase base = tiny_case(2, 4, {"training.micro_batch=1"});  // 8 sequences
  const Sweep result = sweep(gpu_cases(base, "8,16"), {}, simulating(), kSilent, kSilent);
  ASSERT_EQ(result.points.size(), 2U);
  EXPECT_TRUE(result.points[0].solved());
  EXPECT_FALSE(result.points[1].solved());
  EXPECT_THAT(result.points[1].why_not, testing::HasSubstr("8 sequences don't divide"));
  EXPECT_THAT(sweep_text(result, Objective::kStepTime), testing::HasSubstr("8 sequences don't"));
}

TEST(Sweep, MarksTodaysPlanWhereItIsPossible) {
  const PlanningCase base =
      tiny_case(4, 4, {"training.micro_batch=4", R"(plan={"p":"1x1","g":"1x1","os":"4x2"})"});
  const auto cases = gpu_cases(base, "4,8,16");
  EXPECT_FALSE(cases[0].question->today);
  EXPECT_TRUE(cases[1].question->today);
  EXPECT_TRUE(cases[2].question->today);
}

TEST(Sweep, EachPointIsTheSearchOfItsOwn) {
  const PlanningCase base = tiny_case(2, 4, {"training.micro_batch=4"});
  const auto cases = gpu_cases(base, "4,8");
  const Sweep result = sweep(cases, {}, simulating(), kSilent, kSilent);
  for (std::size_t i = 0; i < 2; ++i) {
    const SearchResult alone = search(*cases[i].question, {}, simulating());
    EXPECT_EQ(ranking_json(*cases[i].question, *result.points[i].result).dump(),
              ranking_json(*cases[i].question, alone).dump());
  }
}

TEST(Sweep, ReadsClustersFromFiles) {
  const PlanningCase base = tiny_case(2, 4, {"training.micro_batches=4"});
  const std::string good = testing::TempDir() + "good.json";
  const std::string bad = testing::TempDir() + "bad.json";
  std::ofstream(good) << R"({"preset": "dgx-a100", "name": "larger", "nodes": 4})";
  std::ofstream(bad) << R"({"preset": "dgx-a100", "nods": 4})";
  const auto cases = cluster_cases(base, {good});
  ASSERT_EQ(cases.size(), 1U);
  EXPECT_EQ(cases[0].label, "larger");
  EXPECT_EQ(cases[0].question->scenario.plan.dp, (Mesh{8, 4}));
  EXPECT_EQ(cases[0].question->scenario.global_batch(), 32);
  EXPECT_THAT(message_of([&] { cluster_cases(base, {bad}); }),
              testing::StartsWith(bad + "#/nods: is not a known key; did you mean 'node'?"));
}

TEST(Sensitivity, AsksThirtyQuestionsAndRunsNothingForMemory) {
  const PlanningCase question = tiny_case(2, 2);
  SearchOptions options;
  const SearchResult base = search(question, options, simulating());
  std::size_t searches = 0, runs = 0;
  Runner runner = simulating();
  runner.proceed = [&](std::size_t, std::size_t total) {
    if (searches > 24) runs += total;
    return true;
  };
  const Sensitivity result = sensitivity(
      question, options, runner, base, [&](std::size_t at, std::size_t) { searches = at; },
      kSilent);
  EXPECT_EQ(result.rows.size(), 30U);
  EXPECT_EQ(searches, 30U);
  EXPECT_EQ(runs, 0U);
  const double now = base.fastest().value;
  for (const SensitivityRow& row : result.rows) {
    SCOPED_TRACE(row.what + std::to_string(row.change));
    ASSERT_TRUE(row.best);
    EXPECT_GE(*row.regret(), 0);
    // more bandwidth or compute never hurts, more latency never helps
    if (row.what == "GPU memory")
      EXPECT_EQ(row.fastest.value, now);
    else if (row.what == "latency")
      EXPECT_TRUE(row.change > 0 ? row.fastest.value >= now : row.fastest.value <= now);
    else
      EXPECT_TRUE(row.change < 0 ? row.fastest.value >= now : row.fastest.value <= now);
  }
}

}  // namespace
}  // namespace amsp
