#include "planner/search/search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>

#include "core/error.h"
#include "planner/report/report.h"
#include "planner/search/ranking.h"
#include "tests/core/message_of.h"
#include "tests/planner/cases.h"

namespace amsp {
namespace {

/// What a search tells, without what a machine or a worker could change.
std::string told(const PlanningCase& question, const SearchResult& result) {
  return space_json(question, result).dump() + ranking_json(question, result).dump();
}

TEST(Search, RanksAllPlansByTheirOwnPredictions) {
  // thin network, several micro-batches, so that plans differ
  const PlanningCase question =
      tiny_case(3, 4, {"training.micro_batches=2", "training.micro_batch=4", "plan=zero3"});
  SearchOptions options;
  options.top = 1000;  // all exact
  const SearchResult result = search(question, options, simulating());
  const PlanSpace space = enumerate_plans({4, 3});
  ASSERT_GE(result.by_step_time.size(), space.plans.size());
  for (const std::size_t i : result.by_step_time) {
    const Entry& entry = result.entries[i];
    const Scenario scenario = scenario_of(question.scenario, entry.candidate);
    EXPECT_FALSE(entry.step.screened);
    EXPECT_NEAR(*entry.step.step_time / Seconds{simulated_step(scenario)}, 1, 1e-12)
        << to_string(entry.candidate.plan);
    EXPECT_EQ(entry.memory, memory_of(scenario).reserved);
    EXPECT_EQ(*entry.t_comm, t_comm_of(scenario));
  }
  for (const ShardingPlan& plan : space.plans) EXPECT_TRUE(result.place(plan));
}

TEST(Search, NeverRanksAPlanBelowOneThatCostsAtLeastAsMuchTimeAndMemory) {
  const PlanningCase question = tiny_case(4, 8, {"training.micro_batch=8"});
  const SearchResult result = search(question, {}, simulating());
  ASSERT_GT(result.by_step_time.size(), 30U);
  for (std::size_t i = 0; i < result.by_step_time.size(); ++i)
    for (std::size_t j = i + 1; j < result.by_step_time.size(); ++j) {
      const Entry& before = result.entries[result.by_step_time[i]];
      const Entry& after = result.entries[result.by_step_time[j]];
      EXPECT_FALSE(after.memory <= before.memory && *after.step.step_time < *before.step.step_time)
          << to_string(after.candidate.plan);
    }
}

TEST(Search, DoesNotDependOnTheNumberOfWorkers) {
  const PlanningCase question = tiny_case(2, 4, {"training.micro_batches=2"});
  const std::string one = told(question, search(question, {}, simulating(1)));
  for (const int workers : {2, 3, 7})
    EXPECT_EQ(told(question, search(question, {}, simulating(workers))), one);
}

TEST(Search, TellsOfCandidatesInOneOrder) {
  const PlanningCase question = tiny_case(2, 4);
  std::vector<std::string> orders;
  for (const int workers : {1, 3}) {
    std::string order;
    search(question, {}, simulating(workers),
           [&](const Entry& entry) { order += entry_json(question, entry).dump() + "\n"; });
    orders.push_back(order);
  }
  EXPECT_EQ(orders[0], orders[1]);
  // 16 plans and zeropp; what was screened first is told again
  EXPECT_GE(std::count(orders[0].begin(), orders[0].end(), '\n'), 17);
}

// Screening stands in for plans that fold badly; how far it is off decides whether it may.
TEST(Search, ScreensCloseToTheExactTimes) {
  const PlanningCase question = tiny_case(4, 4, {"training.micro_batch=8"});
  SearchOptions few;
  few.top = 1;
  few.baselines = false;
  SearchOptions all;
  all.top = 1000;
  const SearchResult screened = search(question, few, simulating());
  const SearchResult exact = search(question, all, simulating());
  ASSERT_EQ(screened.entries.size(), exact.entries.size());
  int count = 0;
  for (std::size_t i = 0; i < exact.entries.size(); ++i) {
    const StepCost& a = screened.entries[i].step;
    const StepCost& b = exact.entries[i].step;
    ASSERT_FALSE(b.screened);
    if (!a.screened) {
      EXPECT_EQ(a.step_time, b.step_time);
      continue;
    }
    ++count;
    EXPECT_NEAR(*a.step_time / *b.step_time, 1, 5e-3) << to_string(exact.entries[i].candidate.plan);
  }
  EXPECT_GT(count, 5);
  EXPECT_FALSE(screened.best().step.screened);
}

// Two plans that differ in g only: one run if M = 1, two if gradients are reduced before the last.
TEST(Search, RunsEqualSchedulesOnceAndOthersEach) {
  for (const int micro_batches : {1, 2}) {
    const PlanningCase question =
        tiny_case(2, 2, {"training.micro_batches=" + std::to_string(micro_batches)});
    std::size_t runs = 0;
    Runner runner = simulating(1);
    runner.proceed = [&](std::size_t, std::size_t total) {
      runs = std::max(runs, total);
      return true;
    };
    SearchOptions options;
    options.top = 1000;
    const SearchResult result = search(question, options, runner);
    const std::size_t all = result.by_step_time.size();
    EXPECT_EQ(all, 10U);  // 9 plans and zeropp
    EXPECT_EQ(runs, micro_batches == 1 ? 7U : 10U);
    for (const std::size_t i : result.by_step_time)
      EXPECT_NEAR(
          *result.entries[i].step.step_time /
              Seconds{simulated_step(scenario_of(question.scenario, result.entries[i].candidate))},
          1, 1e-12);
  }
}

TEST(Search, ByCommTimeRunsOnlyTheBestAndBaselines) {
  const PlanningCase question = tiny_case(2, 4, {"plan=null"});
  SearchOptions options;
  options.objective = Objective::kCommTime;
  options.top = 2;
  const SearchResult result = search(question, options, simulating());
  std::size_t run = 0;
  for (const Entry& entry : result.entries) run += entry.step.step_time ? 1 : 0;
  EXPECT_EQ(result.by_comm_time.size(), result.entries.size());
  EXPECT_GE(run, 2U);
  EXPECT_LT(run, result.entries.size());
  for (std::size_t i = 1; i < result.by_comm_time.size(); ++i) {
    const Entry& before = result.entries[result.by_comm_time[i - 1]];
    const Entry& after = result.entries[result.by_comm_time[i]];
    EXPECT_LE(*before.t_comm, (1 + kTie) * *after.t_comm);
  }
  options.axes.recompute = true;
  EXPECT_EQ(message_of([&] { search(question, options, simulating()); }),
            "--objective comm-time: doesn't see what recomputing costs; search recompute by "
            "step-time");
}

TEST(Search, MarksBaselinesAndToday) {
  const PlanningCase question = tiny_case(2, 4, {"plan=zero1"});
  const SearchResult result = search(question, {}, simulating());
  const auto names_of = [&](const ShardingPlan& plan) {
    return result.entries[result.ranking()[*result.place(plan)]].names;
  };
  const Mesh dp{4, 2}, one{1, 1}, node{4, 1};
  EXPECT_THAT(names_of({one, one, one, dp, {}}), testing::ElementsAre("ddp"));
  EXPECT_THAT(names_of({one, one, dp, dp, {}}), testing::ElementsAre("zero1", "today"));
  EXPECT_THAT(names_of({one, dp, dp, dp, {}}), testing::ElementsAre("zero2"));
  EXPECT_THAT(names_of({dp, dp, dp, dp, {}}), testing::ElementsAre("zero3"));
  EXPECT_THAT(names_of({{2, 1}, {2, 1}, {2, 1}, dp, {}}), testing::ElementsAre("mics"));
  EXPECT_THAT(names_of({node, node, node, dp, {}}), testing::ElementsAre("hsdp"));
  EXPECT_THAT(names_of({dp, dp, dp, dp, node}), testing::ElementsAre("zeropp"));
}

TEST(Search, SaysWhatDoesNotFitAndByHowMuch) {
  // DDP needs 1.44 GiB here; nothing needs less than 1.0
  const PlanningCase question =
      tiny_case(1, 2, {R"(cluster.gpu={"memory": "1GiB"})", "cluster.profile=none"});
  const SearchResult result = search(question, {}, simulating());
  const auto reasons = rejections(result);
  ASSERT_EQ(reasons.size(), 1U);
  Bytes nearest{INT64_MAX};
  std::size_t count = 0;
  for (const Entry& entry : result.entries)
    if (!entry.fits) {
      ++count;
      nearest = std::min(nearest, entry.memory);
    }
  EXPECT_EQ(reasons[0].count, count);
  EXPECT_GT(nearest, 1_GiB);
  EXPECT_THAT(reasons[0].reason, testing::StartsWith("exceed 1.00 GiB, the nearest by "));
}

/// Can't play what shards parameters, and dies of what shards optimizer states.
Playback play_badly(const Lowering& lowering) {
  for (const Task& task : lowering.graph().tasks())
    if (task.kind == WorkKind::kCollective) {
      if (task.key.op == Op::kAllGather) throw ConfigError("no all-gather here");
      if (task.key.op == Op::kBroadcast) ::kill(::getpid(), SIGKILL);
    }
  return simulate(lowering);
}

TEST(Search, GroupsWhatCouldNotBeTimed) {
  const PlanningCase question = tiny_case(1, 2);
  Runner runner = simulating();
  runner.play = play_badly;
  const SearchResult result = search(question, {}, runner);
  EXPECT_EQ(result.by_step_time.size(), 1U);  // ddp
  const auto reasons = rejections(result);
  ASSERT_EQ(reasons.size(), 2U);
  EXPECT_EQ(reasons[0].count, 1U);
  EXPECT_EQ(reasons[0].reason, "can't be timed: no all-gather here");
  EXPECT_FALSE(reasons[0].internal);
  EXPECT_EQ(reasons[1].count, 2U);
  EXPECT_EQ(reasons[1].reason, "failed: its process was ended by signal 9");
  EXPECT_TRUE(reasons[1].internal);
}

TEST(Search, GivesWhatItKnowsWhenInterrupted) {
  const PlanningCase question = tiny_case(2, 4);
  Runner runner = simulating(1);
  runner.proceed = [](std::size_t done, std::size_t) { return done < 3; };
  const SearchResult result = search(question, {}, runner);
  EXPECT_TRUE(result.interrupted);
  EXPECT_GE(result.by_step_time.size(), 3U);
  EXPECT_LT(result.by_step_time.size(), result.entries.size());
  EXPECT_EQ(result.by_comm_time.size(), result.entries.size());
}

}  // namespace
}  // namespace amsp
