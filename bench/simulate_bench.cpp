// What each stage of a prediction costs: LLaMA-7B, AMSP's plan, on A800 nodes. The argument is the
// number of GPUs.
#include <benchmark/benchmark.h>

#include "prediction/predict.h"
#include "schedule/schedule_builder.h"
#include "sim/expansion.h"
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

void Expand(benchmark::State& state) {
  const Setup setup(scenario_of(state.range(0)));
  std::size_t activities = 0;
  for (auto _ : state) activities += expand(setup.lowering()).workload.activities.size();
  state.counters["activities/s"] =
      benchmark::Counter(static_cast<double>(activities), benchmark::Counter::kIsRate);
}
BENCHMARK(Expand)->Arg(8)->Arg(64)->Arg(256)->Unit(benchmark::kMillisecond);

void Simulate(benchmark::State& state) {
  const Setup setup(scenario_of(state.range(0)));
  Simulator simulator(setup.lowering());
  for (auto _ : state) benchmark::DoNotOptimize(simulator.run(setup.graph()).step_time());
  state.counters["activities"] = static_cast<double>(simulator.activities());
}
BENCHMARK(Simulate)->Arg(8)->Arg(64)->Arg(256)->Unit(benchmark::kMillisecond)->UseRealTime();

void Summarise(benchmark::State& state) {
  const Setup setup(scenario_of(state.range(0)));
  Simulator simulator(setup.lowering());
  const Timeline timeline = simulator.run(setup.graph());
  for (auto _ : state) benchmark::DoNotOptimize(summarise(setup, timeline).mfu);
}
BENCHMARK(Summarise)->Arg(8)->Arg(64)->Arg(256)->Unit(benchmark::kMillisecond);

}  // namespace
