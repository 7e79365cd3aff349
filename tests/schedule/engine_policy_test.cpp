#include "training/engine_policy.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "schedule/schedule_builder.h"
#include "tests/schedule/small_model.h"
#include "tests/schedule/task_order.h"

namespace amsp {
namespace {

constexpr Mesh kOne{1, 1};
constexpr Mesh kNode{2, 1};
constexpr Mesh kAll{2, 2};
const ShardingPlan kHsdp{kNode, kNode, kNode, kAll, {}};
const ShardingPlan kZero1{kOne, kOne, kAll, kAll, {}};
const ShardingPlan kZero2{kOne, kAll, kAll, kAll, {}};
const ShardingPlan kZero3{kAll, kAll, kAll, kAll, {}};
const ShardingPlan kDdp{kOne, kOne, kOne, kAll, {}};

struct Built {
  Built(const std::string& engine, const ShardingPlan& plan, int micro_batches = 1)
      : graph(build_schedule(small_model(), small_training(micro_batches), plan,
                             engine_policy(engine))),
        keys(by_key(graph)) {}

  TaskId at(const std::string& key) const { return keys.at(key); }
  bool must_precede(const std::string& before, const std::string& after) const {
    return amsp::must_precede(graph, at(before), at(after));
  }
  /// Tasks of step 1 in a phase with an operation.
  auto count(Phase phase, Op op) const {
    return std::count_if(graph.tasks().begin(), graph.tasks().end(), [&](const Task& task) {
      return task.key.step == 1 && task.key.phase == phase && task.key.op == op;
    });
  }

  TaskGraph graph;
  std::map<std::string, TaskId> keys;
};

TEST(Engines, AmspIsTheDefault) {
  const EnginePolicy a = engine_policy("amsp"), b;
  EXPECT_EQ(a.name, b.name);
  EXPECT_EQ(a.bucket, b.bucket);
  EXPECT_EQ(a.communicators, Communicators::kSeparate);
  EXPECT_TRUE(a.overlap_gather && a.overlap_all_reduce && a.overlap_broadcast &&
              a.decoupled_reduce_scatter);
  EXPECT_EQ(engine_names(), (std::vector<std::string>{"amsp", "deepspeed", "fsdp2", "ddp"}));
}

// --- deepspeed

TEST(DeepSpeed, ReduceScatterBlocksTheBackward) {
  const Built deepspeed("deepspeed", kZero3), amsp("amsp", kZero3);
  const std::string scatter = "s1/mb0/bwd/L1/down/reduce_scatter@2x2";
  const std::string next = "s1/mb0/bwd/L1/down/dgrad";
  EXPECT_TRUE(deepspeed.must_precede(scatter, next));
  EXPECT_FALSE(amsp.must_precede(scatter, next));
}

TEST(DeepSpeed, ReduceScatterBlocksTheAllReduce) {
  const Built deepspeed("deepspeed", kHsdp);
  EXPECT_TRUE(deepspeed.must_precede("s1/mb0/bwd/emb/embedding/reduce_scatter@2x1",
                                     "s1/mb0/grad_sync/-/bucket0/all_reduce@1x2/2x1"));
}

TEST(DeepSpeed, Stage2ReducesEveryMicroBatchStage1OnlyTheLast) {
  EXPECT_EQ(Built("deepspeed", kZero2, 3).count(Phase::kGradSync, Op::kAllReduce), 3);
  EXPECT_EQ(Built("deepspeed", kZero1, 3).count(Phase::kGradSync, Op::kAllReduce), 1);
}

TEST(DeepSpeed, GathersAllParametersBeforeTheNextForward) {
  const Built deepspeed("deepspeed", kZero1), amsp("amsp", kZero1);
  EXPECT_EQ(deepspeed.count(Phase::kUpdate, Op::kBroadcast), 0);
  const std::string first = "s1/mb0/fwd/emb/embedding/forward";
  EXPECT_TRUE(deepspeed.must_precede("s0/-/update/head/params/all_gather@2x2", first));
  EXPECT_FALSE(amsp.must_precede("s0/-/update/head/params/broadcast@2x2", first));
}

// --- fsdp2

TEST(Fsdp2, GathersAndReducesLayerByLayer) {
  const Built fsdp2("fsdp2", kZero3);
  const int blocks = 2 + small_model().layers;
  EXPECT_EQ(fsdp2.count(Phase::kForward, Op::kAllGather), blocks);
  EXPECT_EQ(fsdp2.count(Phase::kBackward, Op::kAllGather), blocks - 1);  // not the embedding
  EXPECT_EQ(fsdp2.count(Phase::kBackward, Op::kReduceScatter), blocks);
  const Built amsp("amsp", kZero3);
  const auto bytes = [](const Built& built) {
    std::int64_t sum = 0;
    for (const Task& task : built.graph.tasks())
      if (task.key.step == 1 && task.key.op == Op::kReduceScatter)
        sum += built.graph.collective(task).call.bytes.value;
    return sum;
  };
  EXPECT_EQ(bytes(fsdp2), bytes(amsp));
}

TEST(Fsdp2, ReduceScatterOverlapsTheNextLayerOnly) {
  const Built fsdp2("fsdp2", kZero3);
  const std::string scatter = "s1/mb0/bwd/L1/params/reduce_scatter@2x2";
  EXPECT_TRUE(fsdp2.must_precede("s1/mb0/bwd/L1/q/wgrad", scatter));
  EXPECT_FALSE(fsdp2.must_precede(scatter, "s1/mb0/bwd/L0/down/wgrad"));
  EXPECT_TRUE(fsdp2.must_precede(scatter, "s1/mb0/bwd/emb/embedding/backward"));
}

TEST(Fsdp2, HybridShardingAllReducesEachLayerInEveryMicroBatch) {
  const Built fsdp2("fsdp2", kHsdp, 3);
  const int blocks = 2 + small_model().layers;
  EXPECT_EQ(fsdp2.count(Phase::kGradSync, Op::kAllReduce), 3 * blocks);
  EXPECT_EQ(Built("amsp", kHsdp, 3).count(Phase::kGradSync, Op::kAllReduce), 1);
}

TEST(Fsdp2, GatherAndReduceScatterTakeTurns) {
  const Built fsdp2("fsdp2", kZero3);
  EXPECT_EQ(fsdp2.graph[fsdp2.at("s1/mb0/bwd/L0/params/all_gather@2x2")].stream,
            fsdp2.graph[fsdp2.at("s1/mb0/bwd/L1/params/reduce_scatter@2x2")].stream);
}

// --- ddp

TEST(Ddp, ReducesInEveryMicroBatch) {
  EXPECT_EQ(Built("ddp", kDdp, 3).count(Phase::kGradSync, Op::kAllReduce), 3);
}

TEST(Ddp, BroadcastsOptimizerShardsAfterTheStep) {
  const Built ddp("ddp", kZero1);
  EXPECT_TRUE(ddp.must_precede("s0/-/update/head/params/broadcast@2x2",
                               "s1/mb0/fwd/emb/embedding/forward"));
}

TEST(Ddp, RefusesShardedParametersAndGradients) {
  const EnginePolicy ddp = engine_policy("ddp");
  EXPECT_EQ(engine_obstacle(ddp, kZero1), std::nullopt);
  EXPECT_EQ(
      engine_obstacle(ddp, kZero3).value(),
      "engine ddp keeps all parameters and gradients on every GPU; the plan shards parameters "
      "over 2x2 (engines that shard them: amsp, deepspeed, fsdp2)");
  EXPECT_EQ(engine_obstacle(ddp, kZero2).value(),
            "engine ddp keeps all parameters and gradients on every GPU; the plan shards gradients "
            "over 2x2 (engines that shard them: amsp, deepspeed, fsdp2)");
  for (const char* engine : {"amsp", "deepspeed", "fsdp2"})
    EXPECT_EQ(engine_obstacle(engine_policy(engine), kZero3), std::nullopt);
}

}  // namespace
}  // namespace amsp
