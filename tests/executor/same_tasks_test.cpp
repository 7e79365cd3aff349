// The simulator's trace and the executor's, of one scenario: the same tasks, in an order that the
// graph allows.
#include <gmock/gmock.h>

#include <map>

#include "local_ranks.h"
#include "parity.h"
#include "prediction/predict.h"
#include "sim/simulator.h"
#include "tests/lowering/small_cluster.h"
#include "trace_tasks.h"

namespace amsp {
namespace {

using Change = std::function<void(Scenario&)>;

struct Case {
  const char* name;
  const char* plan;
  Mesh dp;
  int micro_batches;
  Change change;
};

void none(Scenario&) {}
Change engine(const std::string& name) {
  return [name](Scenario& scenario) {
    const Bytes bucket = scenario.engine.bucket;
    scenario.engine = engine_policy(name);
    scenario.engine.bucket = bucket;
  };
}

const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {"Ddp", "ddp", {4, 1}, 1, none},
      {"Zero1", "zero1", {4, 1}, 2, none},
      {"Zero2", "zero2", {2, 2}, 3, none},
      {"Zero3", "zero3", {4, 1}, 4, none},
      {"Hsdp", "hsdp-2", {2, 2}, 2, none},
      {"ZeroPp", "zeropp", {2, 2}, 2, none},
      {"AmspLike", "amsp-like", {4, 1}, 2, none},
      {"Recompute",
       "zero3",
       {2, 2},
       2,
       [](Scenario& s) { s.training.recompute = Recompute::kFull; }},
      {"RecomputeHalf",
       "zero3",
       {2, 2},
       2,
       [](Scenario& s) {
         s.training.recompute = Recompute::kFull;
         s.training.recompute_share = 0.5;
       }},
      {"NoOverlap",
       "amsp-like",
       {4, 1},
       2,
       [](Scenario& s) {
         s.engine.overlap_gather = s.engine.overlap_all_reduce = s.engine.overlap_broadcast = false;
       }},
      {"DeepSpeedZero2", "zero2", {2, 2}, 2, engine("deepspeed")},
      {"DeepSpeedZero3", "zero3", {4, 1}, 2, engine("deepspeed")},
      {"Fsdp2", "zero3", {4, 1}, 2, engine("fsdp2")},
      {"Fsdp2Hsdp", "hsdp-2", {2, 2}, 2, engine("fsdp2")},
      {"DdpEngine", "ddp", {4, 1}, 2, engine("ddp")},
      {"FlatOwnership",
       "zero1",
       {2, 2},
       1,
       [](Scenario& s) { s.engine.os_sharding = OsSharding::kFlat; }},
      {"FusedTiedAndBiased",
       "zero3",
       {4, 1},
       2,
       [](Scenario& s) {
         s.model.fused_qkv = s.model.fused_gate_up = s.model.tied_embeddings = true;
         s.model.qkv_bias = s.model.output_bias = s.model.mlp_bias = true;
       }},
  };
  return all;
}

Scenario scenario_of(const Case& one) {
  Scenario scenario = tiny_scenario(one.dp, 4, one.plan, one.micro_batches);
  scenario.cluster = small_cluster(one.dp.inter);
  scenario.cluster.node.gpus = one.dp.intra;
  scenario.cluster.node.nic_of_gpu.assign(static_cast<std::size_t>(one.dp.intra), 0);
  one.change(scenario);
  return scenario;
}

class SameTasks : public testing::TestWithParam<Case> {};

TEST_P(SameTasks, AsTheSimulator) {
  const Scenario scenario = scenario_of(GetParam());
  const amsp::Setup setup(scenario);  // not gtest's
  const Timeline simulated = simulate(setup.lowering()).timeline;

  std::map<Rank, TaskCounts> executed;
  ExecutionOptions options;
  options.steps = 4;
  LocalRun how;
  how.look = [&](Rank rank, const Executor& executor) {
    executed[rank] = tasks_of(executor.timeline(), rank);
    expect_dependencies_respected(executor.timeline(), rank);
  };
  run_local_ranks(scenario, options, how);

  ASSERT_EQ(executed.size(), static_cast<std::size_t>(scenario.plan.dp.size()));
  for (const auto& [rank, tasks] : executed) {
    // All but the two marks are kernels.
    EXPECT_EQ(tasks.size(), static_cast<std::size_t>(setup.graph().size()) - 2);
    EXPECT_EQ(tasks, tasks_of(simulated, rank)) << "rank " << rank;
  }
}

INSTANTIATE_TEST_SUITE_P(Executor, SameTasks, testing::ValuesIn(cases()),
                         [](const auto& one) { return std::string(one.param.name); });

// Every rank's spans of every plan, the timeline of every rank the same.
TEST(ExecutedOrder, RespectsEveryDependencyOfEveryPlan) {
  ExecutionOptions options;
  options.steps = 3;
  options.warm_up = 1;
  int plans = 0;
  for (const Mesh dp : {Mesh{2, 1}, Mesh{2, 2}})
    for (const ParityCase& one : parity_cases(dp, 4, {2})) {
      SCOPED_TRACE(one.name);
      LocalRun how;
      how.look = [](Rank, const Executor& executor) {
        for (Rank rank = 0; rank < executor.timeline().ranks(); ++rank)
          expect_dependencies_respected(executor.timeline(), rank);
      };
      run_local_ranks(one.scenario, options, how);
      if (HasFailure()) return;
      ++plans;
    }
  EXPECT_GT(plans, 100);
}

}  // namespace
}  // namespace amsp
