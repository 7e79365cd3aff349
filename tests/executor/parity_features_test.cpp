// What the enumeration of all plans in parity_test.cpp leaves out: other engines, switches of the
// engine and of the model, each under a handful of plans on four ranks.
#include <gtest/gtest.h>

#include <functional>

#include "core/error.h"
#include "local_parity.h"

namespace amsp {
namespace {

using Change = std::function<void(Scenario&)>;

struct Plan {
  const char* name;
  Mesh dp;
  int micro_batches;
};
constexpr Plan kZero1{"zero1", {4, 1}, 2};
constexpr Plan kZero2{"zero2", {2, 2}, 2};
constexpr Plan kZero3{"zero3", {4, 1}, 2};
constexpr Plan kHsdp{"hsdp-2", {2, 2}, 2};
constexpr Plan kZeroPp{"zeropp", {2, 2}, 3};
constexpr Plan kAmspLike{"amsp-like", {4, 1}, 2};
constexpr Plan kDdp{"ddp", {4, 1}, 2};

void expect_parity(const std::vector<Plan>& plans, const Change& change) {
  std::vector<ParityCase> cases;
  for (const Plan& plan : plans) {
    Scenario scenario = tiny_scenario(plan.dp, 8, plan.name, plan.micro_batches);
    change(scenario);
    const auto broken = engine_obstacle(scenario.engine, scenario.plan);
    AMSP_CHECK(!broken, "{}", *broken);
    cases.push_back({scenario, plan.name});
  }
  expect_fp64_parity(cases);
}

void use_engine(Scenario& scenario, const std::string& name) {
  const Bytes bucket = scenario.engine.bucket;
  scenario.engine = engine_policy(name);
  scenario.engine.bucket = bucket;  // several of them
}

TEST(ParityOfEngines, DeepSpeed) {
  expect_parity({kZero1, kZero2, kZero3, kHsdp, kZeroPp},
                [](Scenario& s) { use_engine(s, "deepspeed"); });
}
TEST(ParityOfEngines, Fsdp2) {
  expect_parity({kZero3, kHsdp}, [](Scenario& s) { use_engine(s, "fsdp2"); });
}
TEST(ParityOfEngines, Ddp) {
  expect_parity({kDdp, kZero1}, [](Scenario& s) { use_engine(s, "ddp"); });
}

TEST(ParityOfModels, TiedEmbeddings) {
  expect_parity({kDdp, kZero2, kZero3, kAmspLike},
                [](Scenario& s) { s.model.tied_embeddings = true; });
}
TEST(ParityOfModels, FusedProjections) {
  expect_parity({kZero3, kHsdp, kAmspLike},
                [](Scenario& s) { s.model.fused_qkv = s.model.fused_gate_up = true; });
}
TEST(ParityOfModels, Biases) {
  expect_parity({kZero1, kZero3, kAmspLike}, [](Scenario& s) {
    s.model.qkv_bias = s.model.output_bias = s.model.mlp_bias = true;
  });
}
TEST(ParityOfModels, FusedTiedAndBiasedWithRecompute) {
  expect_parity({kZero3, kZeroPp}, [](Scenario& s) {
    s.model.tied_embeddings = s.model.fused_qkv = s.model.fused_gate_up = true;
    s.model.qkv_bias = s.model.output_bias = s.model.mlp_bias = true;
    s.training.recompute = Recompute::kFull;
  });
}
TEST(ParityOfModels, TwoSequencesInAMicroBatch) {
  expect_parity({kZero3, kAmspLike}, [](Scenario& s) { s.training.micro_batch = 2; });
}

TEST(ParityOfSwitches, FlatOwnership) {
  expect_parity({kZero1, kZero2, kZero3, kAmspLike},
                [](Scenario& s) { s.engine.os_sharding = OsSharding::kFlat; });
}
TEST(ParityOfSwitches, PrefetchDepths) {
  for (const int depth : {0, 2, 9})
    expect_parity({kZero3, kAmspLike}, [&](Scenario& s) { s.engine.prefetch_layers = depth; });
}
TEST(ParityOfSwitches, SharedCommunicators) {
  expect_parity({kZero2, kZero3, kAmspLike},
                [](Scenario& s) { s.engine.communicators = Communicators::kShared; });
}
TEST(ParityOfSwitches, GatherByBlocks) {
  expect_parity({kZero3, kHsdp, kZeroPp},
                [](Scenario& s) { s.engine.gather_unit = GatherUnit::kBlock; });
}
TEST(ParityOfSwitches, ReduceByBlocks) {
  expect_parity({kZero2, kZero3, kHsdp},
                [](Scenario& s) { s.engine.reduce_unit = GatherUnit::kBlock; });
}
TEST(ParityOfSwitches, ReduceScatteredBuckets) {
  expect_parity({kZero1, kZero2, kAmspLike}, [](Scenario& s) {
    s.engine.grad_reduction = GradReduction::kReduceScatter;
    s.engine.os_sharding = OsSharding::kFlat;
    s.engine.param_update = ParamUpdate::kAllGather;
  });
}
TEST(ParityOfSwitches, ReplicasReducedInEveryBatch) {
  expect_parity({kDdp, kHsdp, kAmspLike},
                [](Scenario& s) { s.engine.replica_sync = ReplicaSync::kEvery; });
}
TEST(ParityOfSwitches, CoupledReduceScatter) {
  expect_parity({kZero3, kAmspLike},
                [](Scenario& s) { s.engine.decoupled_reduce_scatter = false; });
}
TEST(ParityOfSwitches, OnePendingReduction) {
  expect_parity({kZero2, kZero3, kAmspLike}, [](Scenario& s) { s.engine.max_pending_reduce = 1; });
}
TEST(ParityOfSwitches, OneTensorOrAllInABucket) {
  for (const std::int64_t bytes : {std::int64_t{1}, std::int64_t{1} << 30})
    expect_parity({kDdp, kZero2, kAmspLike}, [&](Scenario& s) { s.engine.bucket = Bytes{bytes}; });
}
TEST(ParityOfSwitches, NoClipping) {
  expect_parity({kZero1, kZero3, kAmspLike},
                [](Scenario& s) { s.training.clip_gradients = false; });
}

}  // namespace
}  // namespace amsp
