// What a search for a plan costs: LLaMA-30B with full recompute on 1,024 A800 GPUs, 121 plans.
#include <benchmark/benchmark.h>

#include "core/json/json.h"
#include "planner/search/search.h"
#include "sim/simulator.h"

namespace {

using namespace amsp;

PlanningCase case_of(std::int64_t gpus) {
  return read_planning_case(parse_json(R"({"schema": "amsp.scenario/1", "name": "bench",
                     "model": {"preset": "llama-30b"},
                     "cluster": {"preset": "a800-amsp-testbed", "nodes": )" +
                                           std::to_string(gpus / 8) + R"(},
                     "training": {"sequence_length": 4096, "micro_batches": 1,
                                  "recompute": "full"}})",
                                       "bench.json"),
                            "bench.json");
}

void Enumerate(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(enumerate_plans({8, 128}).plans.size());
}
BENCHMARK(Enumerate)->Unit(benchmark::kMicrosecond);

/// From nothing: cluster, profile, then memory and T_comm of every plan, and their order.
void ClosedFormsOfAllPlans(benchmark::State& state) {
  const PlanningCase question = case_of(state.range(0));
  std::size_t plans = 0;
  for (auto _ : state) {
    ClosedForms forms(question.scenario);
    SearchResult result;
    result.objective = Objective::kCommTime;
    for (const ShardingPlan& plan : enumerate_plans(question.scenario.plan.dp).plans) {
      const Candidate candidate{plan, question.scenario.training};
      const MemoryEstimate memory = forms.memory(candidate);
      Entry entry;
      entry.candidate = candidate;
      entry.memory = memory.reserved;
      entry.fits = memory.fits();
      entry.t_comm = forms.t_comm(candidate).total();
      result.entries.push_back(std::move(entry));
    }
    rank_entries(result);
    plans += result.entries.size();
    benchmark::DoNotOptimize(result.best().t_comm);
  }
  state.counters["plans/s"] =
      benchmark::Counter(static_cast<double>(plans), benchmark::Counter::kIsRate);
}
BENCHMARK(ClosedFormsOfAllPlans)->Arg(64)->Arg(1024)->Unit(benchmark::kMillisecond);

/// The whole search, closed forms and baselines on their own engines included.
void SimulateAllPlans(benchmark::State& state) {
  const PlanningCase question = case_of(state.range(0));
  Runner runner;
  runner.play = simulate;
  runner.workers = static_cast<int>(state.range(1));
  std::size_t plans = 0;
  for (auto _ : state) plans += search(question, {}, runner).by_step_time.size();
  state.counters["plans/s"] =
      benchmark::Counter(static_cast<double>(plans), benchmark::Counter::kIsRate);
}
BENCHMARK(SimulateAllPlans)
    ->ArgNames({"gpus", "workers"})
    ->Args({64, 1})
    ->Args({1024, 1})
    ->Args({1024, 2})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime()
    ->Iterations(1);

}  // namespace
