// Kernels of executed tasks: whose they are, and when they ran.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "core/json/json.h"
#include "executor/fabric/paced_fabric.h"
#include "executor/run/kernel_log.h"
#include "local_ranks.h"
#include "parity.h"
#include "traces/check/trace_rules.h"
#include "traces/write/chrome_writer.h"

namespace amsp {
namespace {

using testing::IsEmpty;

TaskGraph tiny_graph() {
  const Scenario scenario = tiny_scenario({2, 1}, 4, "zero1", 1);
  return build_schedule(scenario.model, scenario.training, scenario.plan, scenario.engine);
}

/// The key of a task in another step.
std::string label(const TaskGraph& graph, TaskId task, std::int64_t step) {
  const std::string key = graph.key(task);
  return "s" + std::to_string(step) + key.substr(key.find('/'));
}

TEST(KernelLog, FilesRunsByStepAndTaskAndSortsThem) {
  const TaskGraph graph = tiny_graph();
  const auto first = static_cast<TaskId>(index(graph.window_begin) + 1);
  KernelLog log(graph, 2);
  log.add({{{label(graph, first, 3), "b", 30, 40},
            {label(graph, first, 4), "c", 50, 60},
            {label(graph, first, 1), "too early", 1, 2}},
           1,
           2});
  log.add({{{label(graph, first, 3), "a", 10, 20},
            {"s3/tokens", "upload", 5, 6},
            {"stream results", "download", 5, 6},
            {"sx/y", "no step", 5, 6}},
           10,
           20});
  EXPECT_EQ(log.lost(), 11);
  EXPECT_EQ(log.without_task(), 22);
  const auto window = log.window(3);
  ASSERT_EQ(window.size(), static_cast<std::size_t>(graph.size()));
  for (std::size_t task = 0; task < window.size(); ++task)
    EXPECT_EQ(window[task].size(), task == index(first) ? 2u : 0u) << task;
  EXPECT_EQ(*window[index(first)][0].name, "a");
  EXPECT_EQ(window[index(first)][0].start, 10_ns);
  EXPECT_EQ(window[index(first)][0].end, 20_ns);
  EXPECT_EQ(*window[index(first)][1].name, "b");
  EXPECT_EQ(log.window(1)[index(first)].size(), 0u);
}

TEST(KernelLog, TheWindowBeginsWithTheTailOfTheStepBefore) {
  const TaskGraph graph = tiny_graph();
  const std::size_t tail = index(graph.window_begin), end = index(graph.window_end);
  ASSERT_GT(tail, 0u);
  KernelLog log(graph, 1);
  for (std::int64_t step = 1; step <= 3; ++step)
    for (std::size_t i = 0; i < tail; ++i) {
      const auto task = static_cast<TaskId>(end - tail + i);
      const std::int64_t start = 1000 * step + static_cast<std::int64_t>(i);
      log.add({{{label(graph, task, step), "k", start, start + 1}}, 0, 0});
    }
  const auto window = log.window(2);
  for (std::size_t i = 0; i < tail; ++i) {
    ASSERT_EQ(window[i].size(), 1u);
    EXPECT_EQ(window[i][0].start, Nanoseconds{1000 + static_cast<std::int64_t>(i)});
    ASSERT_EQ(window[end - tail + i].size(), 1u);
    EXPECT_EQ(window[end - tail + i][0].start, Nanoseconds{2000 + static_cast<std::int64_t>(i)});
  }
}

/// Looks at the kernels of every rank of a run.
Execution run_with_kernels(const char* plan, LocalRun how,
                           const std::function<void(Rank, const Executor&)>& look) {
  Scenario scenario = tiny_scenario({2, 1}, 4, plan, 2);
  ExecutionOptions options;
  options.steps = 5;
  options.warm_up = 1;
  options.kernels = true;
  how.look = look;
  return run_local_ranks(scenario, options, how);
}

class HostKernels : public testing::TestWithParam<const char*> {};

TEST_P(HostKernels, LieInTheSpansOfTheirTasksOneAfterTheOther) {
  int kernels = 0;
  run_with_kernels(GetParam(), {}, [&](Rank rank, const Executor& executor) {
    const Timeline& timeline = executor.timeline();
    const TaskGraph& graph = timeline.graph();
    const RankKernels& all = executor.kernels();
    ASSERT_EQ(all.size(), static_cast<std::size_t>(graph.size()));
    std::set<TaskId> traced;
    for (const TraceEvent& event : all_events(timeline, rank)) {
      traced.insert(event.task);
      const auto& mine = all[index(event.task)];
      const std::string key = graph.key(event.task);
      EXPECT_FALSE(mine.empty()) << key;
      Nanoseconds from = event.start, sum = 0_ns;
      for (const TracedKernel& kernel : mine) {
        EXPECT_GE(kernel.start, from) << key << ", " << kernel.name;
        EXPECT_GE(kernel.duration, 0_ns);
        from = kernel.start + kernel.duration;
        sum += kernel.duration;
        ++kernels;
      }
      EXPECT_LE(from, event.end) << key;
      EXPECT_LE(sum, event.end - event.start) << key;
    }
    for (int i = 0; i < graph.size(); ++i)
      if (!traced.contains(static_cast<TaskId>(i))) {
        EXPECT_THAT(all[static_cast<std::size_t>(i)], IsEmpty());
      }
  });
  EXPECT_GT(kernels, 100);
}

TEST_P(HostKernels, AreNamedAfterTheWork) {
  run_with_kernels(GetParam(), {}, [&](Rank, const Executor& executor) {
    const TaskGraph& graph = executor.timeline().graph();
    for (int i = 0; i < graph.size(); ++i) {
      const Task& task = graph[static_cast<TaskId>(i)];
      std::vector<std::string> names;
      for (const TracedKernel& kernel : executor.kernels()[static_cast<std::size_t>(i)])
        names.push_back(kernel.name);
      const std::string key = graph.key(static_cast<TaskId>(i));
      const char* expected = nullptr;
      if (task.kind == WorkKind::kCollective)
        expected = to_string(graph.collective(task).call.kind);
      else if (key.find("/q/forward") != std::string::npos)
        expected = "gemm";
      else if (key.find("/attention/forward") != std::string::npos)
        expected = "attention";
      else if (task.key.op == Op::kStep)
        expected = "adamw";
      if (expected != nullptr) {
        EXPECT_THAT(names, testing::Contains(expected)) << key;
      }
    }
  });
}

TEST_P(HostKernels, StandInATraceThatBreaksNoRuleAndChangeNothingElse) {
  run_with_kernels(GetParam(), {}, [&](Rank rank, const Executor& executor) {
    TraceMeta meta;
    meta.source = "real";
    const std::string plain = chrome_trace(executor.timeline(), {rank}, meta);
    const std::string with =
        chrome_trace(executor.timeline(), {rank}, meta, {{rank, executor.kernels()}});
    EXPECT_THAT(broken_trace_rules(with), broken_trace_rules(plain));
    Json json = Json::parse(with);
    int kernels = 0;
    for (Json& event : json["traceEvents"])
      if (event.contains("args")) kernels += static_cast<int>(event["args"].erase("kernels"));
    EXPECT_GT(kernels, 30);
    EXPECT_EQ(json, Json::parse(plain));
  });
}

INSTANTIATE_TEST_SUITE_P(Plans, HostKernels, testing::Values("zero1", "zero3"),
                         [](const auto& one) { return std::string(one.param); });

TEST(KernelTotals, AddUpTheTracedStepsKernelsLongestFirst) {
  double sum = 0;
  std::int64_t runs = 0;
  const Execution execution =
      run_with_kernels("zero1", {}, [&](Rank rank, const Executor& executor) {
        if (rank != 0) return;
        const RankKernels& kernels = executor.kernels();
        const auto begin = index(executor.timeline().graph().window_begin);
        for (std::size_t task = begin; task < kernels.size(); ++task)
          for (const TracedKernel& kernel : kernels[task]) {
            sum += static_cast<double>(kernel.duration.value) / 1e9;
            ++runs;
          }
      });
  ASSERT_TRUE(execution.kernels.has_value());
  EXPECT_EQ(execution.kernels->lost + execution.kernels->without_task, 0);
  std::set<std::string> names;
  for (const KernelTotal& total : execution.kernels->by_name) {
    names.insert(total.name);
    sum -= total.total.value;
    runs -= total.runs;
  }
  EXPECT_EQ(names.size(), execution.kernels->by_name.size());
  EXPECT_TRUE(names.contains("gemm"));
  EXPECT_EQ(runs, 0);
  EXPECT_NEAR(sum, 0, 1e-9);
  EXPECT_TRUE(std::ranges::is_sorted(execution.kernels->by_name, std::ranges::greater{},
                                     [](const KernelTotal& total) { return total.total; }));
}

TEST(KernelTotals, AreAbsentUnlessAskedFor) {
  ExecutionOptions options;
  options.steps = 4;
  LocalRun how;
  how.look = [](Rank, const Executor& executor) { EXPECT_THAT(executor.kernels(), IsEmpty()); };
  EXPECT_FALSE(run_local_ranks(tiny_scenario({2, 1}, 4, "zero1", 1), options, how).kernels);
}

TEST(HostKernelsOfAPacedNetwork, ShowHowLongACollectiveIsHeldBack) {
  const Pace pace{BytesPerSec{1e12}, Seconds{0.002}};
  LocalRun how;
  how.over = [&](World& world, Fabric& threads) {
    return std::make_unique<PacedFabric>(world, threads, PaceOptions{pace, pace});
  };
  const Execution execution = run_with_kernels("zero1", how, [](Rank, const Executor&) {});
  ASSERT_TRUE(execution.kernels.has_value());
  const auto& totals = execution.kernels->by_name;
  const auto found = std::ranges::find(totals, "pace", &KernelTotal::name);
  ASSERT_NE(found, totals.end());
  EXPECT_GT(found->total.value, 0.001);
}

}  // namespace
}  // namespace amsp
