// What each stage of a prediction costs: LLaMA-7B, AMSP's plan, on A800 nodes. The argument is the
// number of GPUs.
#include <benchmark/benchmark.h>

#include "core/json/json.h"
#include "lowering/load_graph.h"
#include "prediction/predict.h"
#include "schedule/schedule_builder.h"
#include "sim/expansion.h"
#include "sim/fold.h"
#include "sim/jitter.h"
#include "sim/simulator.h"

namespace {

using namespace amsp;

Scenario scenario_of(std::int64_t gpus, int micro_batches = 1) {
  return read_scenario(parse_json(R"({"schema": "amsp.scenario/1", "name": "bench",
                     "model": {"preset": "llama-7b"},
                     "cluster": {"preset": "a800-amsp-testbed", "nodes": )" +
                                      std::to_string(gpus / 8) +
                                      R"(},
                     "training": {"sequence_length": 4096, "micro_batches": )" +
                                      std::to_string(micro_batches) + R"(},
                     "plan": "amsp"})",
                                  "bench.json"),
                       "bench.json");
}

void BuildSchedule(benchmark::State& state) {
  const Scenario scenario = scenario_of(64, static_cast<int>(state.range(0)));
  std::int64_t tasks = 0;
  for (auto _ : state) {
    const TaskGraph graph =
        build_schedule(scenario.model, scenario.training, scenario.plan, scenario.engine);
    tasks += graph.size();
  }
  state.counters["tasks/s"] =
      benchmark::Counter(static_cast<double>(tasks), benchmark::Counter::kIsRate);
}
BENCHMARK(BuildSchedule)->Arg(1)->Arg(8)->Arg(128)->Unit(benchmark::kMillisecond);

/// Schedule, classes and simulation by layers, on 64 GPUs.
void Layers(benchmark::State& state) {
  Scenario scenario = scenario_of(64);
  scenario.model.layers = static_cast<int>(state.range(0));
  std::size_t activities = 0;
  for (auto _ : state) {
    const Setup setup(scenario);
    const Playback playback = simulate(setup.lowering());
    benchmark::DoNotOptimize(playback.timeline.step_time());
    activities = playback.activities;
  }
  state.counters["activities"] = static_cast<double>(activities);
}
BENCHMARK(Layers)->RangeMultiplier(2)->Range(16, 256)->Unit(benchmark::kMillisecond)->UseRealTime();

void Expand(benchmark::State& state) {
  const Setup setup(scenario_of(state.range(0)));
  std::size_t activities = 0;
  for (auto _ : state) activities += expand(setup.lowering()).workload.activities.size();
  state.counters["activities/s"] =
      benchmark::Counter(static_cast<double>(activities), benchmark::Counter::kIsRate);
}
BENCHMARK(Expand)->Arg(8)->Arg(64)->Arg(256)->Unit(benchmark::kMillisecond);

/// Cluster graph, placement, models; then the lowering with the loads of every link.
void BuildMachine(benchmark::State& state) {
  const Scenario scenario = scenario_of(state.range(0));
  for (auto _ : state) {
    const Setup setup(scenario);
    benchmark::DoNotOptimize(setup.lowering().load_graph().label_count());
  }
}
BENCHMARK(BuildMachine)->RangeMultiplier(4)->Range(64, 65536)->Unit(benchmark::kMillisecond);

void Fold(benchmark::State& state) {
  const Setup setup(scenario_of(state.range(0)));
  setup.lowering().load_graph();
  std::size_t activities = 0;
  for (auto _ : state) activities = fold(setup.lowering()).workload.activities.size();
  state.counters["activities"] = static_cast<double>(activities);
}
BENCHMARK(Fold)->RangeMultiplier(4)->Range(64, 65536)->Unit(benchmark::kMillisecond);

/// What is folded once is kept, so this is the simulation itself.
void Simulate(benchmark::State& state) {
  const Setup setup(scenario_of(state.range(0), static_cast<int>(state.range(1))));
  Simulator simulator(setup.lowering());
  state.counters["activities"] = static_cast<double>(simulator.run().activities);
  for (auto _ : state) benchmark::DoNotOptimize(simulator.run().timeline.step_time());
}
BENCHMARK(Simulate)
    ->ArgNames({"gpus", "micro_batches"})
    ->ArgsProduct({{64, 1024, 16384}, {1}})
    ->ArgsProduct({{64}, {8, 128, 1024}})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

/// One step under jitter: every group of ranks has its own factor, so classes multiply.
void SimulateJittered(benchmark::State& state) {
  const Setup setup(scenario_of(1024));
  const Conditions::Jitter jitter{0.03, 1, static_cast<int>(1024 / state.range(0)), 1};
  Simulator simulator(setup.lowering(), jitter.ranks);
  const auto factors = draw_factors(jitter, 1024, 0);
  state.counters["activities"] = static_cast<double>(simulator.run(factors).activities);
  for (auto _ : state) benchmark::DoNotOptimize(simulator.run(factors).timeline.step_time());
}
BENCHMARK(SimulateJittered)
    ->ArgName("groups")
    ->Arg(1)
    ->Arg(4)
    ->Arg(16)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

void Summarise(benchmark::State& state) {
  const Setup setup(scenario_of(state.range(0)));
  const Playback playback = simulate(setup.lowering());
  for (auto _ : state) benchmark::DoNotOptimize(summarise(setup, playback).mfu);
}
BENCHMARK(Summarise)->Arg(8)->Arg(64)->Arg(256)->Unit(benchmark::kMillisecond);

}  // namespace
