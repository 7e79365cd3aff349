#include "training/memory.h"

#include <gtest/gtest.h>

#include "schedule/schedule_builder.h"
#include "tests/schedule/small_model.h"
#include "training/optimizers.h"

namespace amsp {
namespace {

ClusterSpec cluster_of(int nodes, Bytes memory) {
  ClusterSpec cluster;
  cluster.nodes = nodes;
  cluster.gpu.memory = memory;
  cluster.node.comm_sms_intra = 16;
  cluster.node.comm_sms_inter = 8;
  return cluster;
}

TrainingSpec paper_training() {
  TrainingSpec training;
  training.sequence_length = 4096;
  training.optimizer = optimizer("adam");
  return training;
}

TEST(Memory, StatesOfTheSmallModelByHand) {
  // p 1x1, g 1x1, os 2x1; 1448 parameters; greedy halves: 160 + 3 x 96 + 4 x 64 = 704
  // each, then the five norms of 8: 728 and 720.
  const ShardingPlan plan{{1, 1}, {1, 1}, {2, 1}, {2, 1}, {}};
  const auto memory =
      estimate_memory(small_model(), small_training(), plan, {}, cluster_of(1, 1_GiB));
  EXPECT_EQ(memory.part("parameters"), Bytes{2 * 1448});
  EXPECT_EQ(memory.part("gradients"), Bytes{2 * 1448});
  EXPECT_EQ(memory.part("optimizer states").value, 12 * 728);
  EXPECT_EQ(memory.part("fp32 gradients (transient)").value, 4 * 728);
  // 16 tokens x (2 (4 x 8 + 2 x 8 + 2 x 8 + 3 x 12) + 4 x 2) per layer, final norm 2 x 16 x 2 x 8.
  EXPECT_EQ(memory.part("activations").value, 2 * 16 * (200 + 8) + 512);
  EXPECT_EQ(memory.part("logits").value, 6 * 16 * 20);
  EXPECT_EQ(memory.part("gathered parameters"), 0_B);
}

TEST(Memory, ActivationsFollowTheFamily) {
  const ShardingPlan plan{{1, 1}, {1, 1}, {2, 1}, {2, 1}, {}};
  const auto activations = [&plan](const ModelSpec& model) {
    const auto memory = estimate_memory(model, small_training(), plan, {}, cluster_of(1, 1_GiB));
    for (const MemoryPart& part : memory.parts)
      if (part.name == "activations") return part;
    return MemoryPart{};
  };
  const std::int64_t ends = 512;
  ModelSpec model = small_model();
  EXPECT_EQ(activations(model).formula,
            "L x S b (8h + 4ad + 4 a_kv d + 6f + 4a) = 2 x 3.33 kB, ends");
  model.norm = NormKind::kLayer;
  model.positions = Positions::kAlibi;  // neither keeps more
  EXPECT_EQ(activations(model).bytes.value, 2 * 16 * (200 + 8) + ends);
  model.gated = false;  // up and its GELU instead of gate, up, product
  EXPECT_EQ(activations(model).bytes.value, 2 * 16 * (200 - 2 * 12 + 8) + ends);
  model.qk_norm = true;  // q and k before and after; attention's output and v don't have one
  EXPECT_EQ(activations(model).bytes.value, 2 * 16 * (200 - 2 * 12 + 2 * 16 + 8) + ends);
  EXPECT_EQ(activations(model).formula,
            "L x S b (8h + 6ad + 6 a_kv d + 4f + 4a) = 2 x 3.46 kB, ends");
}

TEST(Memory, FullAttentionKeepsThirtyTwoBytesPerElement) {
  ModelSpec model = model_preset("llama-7b");
  model.ffn = model.hidden * 8 / 3;
  const ShardingPlan plan{{1, 1}, {1, 1}, {8, 1}, {8, 1}, {}};
  const auto memory = estimate_memory(model, paper_training(), plan, {}, cluster_of(1, 80_GiB));
  const double per_layer = 32.0 * 4096 * 4096;  // 32 S b h
  EXPECT_NEAR(static_cast<double>(memory.part("activations").value), 32 * per_layer,
              0.01 * 32 * per_layer);
}

TEST(Memory, RecomputeKeepsLayerInputs) {
  TrainingSpec training = paper_training();
  const ModelSpec model = model_preset("llama-30b");
  const ShardingPlan plan{{8, 1}, {8, 1}, {8, 4}, {8, 8}, {}};
  const auto kept = estimate_memory(model, training, plan, {}, cluster_of(8, 80_GiB));
  training.recompute = Recompute::kFull;
  const auto dropped = estimate_memory(model, training, plan, {}, cluster_of(8, 80_GiB));
  EXPECT_LT(dropped.part("activations").value, kept.part("activations").value / 10);
  EXPECT_FALSE(kept.fits());
  EXPECT_TRUE(dropped.fits());
}

TEST(Memory, RecomputeOfSomeLayersKeepsTheOthers) {
  TrainingSpec training = small_training();
  ModelSpec model = small_model();
  model.layers = 4;
  const ShardingPlan plan{{1, 1}, {1, 1}, {1, 1}, {1, 1}, {}};
  const auto activations = [&](double share) {
    training.recompute = share > 0 ? Recompute::kFull : Recompute::kNone;
    training.recompute_share = share > 0 ? share : 1;
    return estimate_memory(model, training, plan, {}, cluster_of(1, 1_GiB))
        .part("activations")
        .value;
  };
  const std::int64_t input = std::int64_t{2} * training.tokens() * model.hidden, ends = 2 * input;
  const std::int64_t layer = (activations(0) - ends) / 4;
  EXPECT_EQ(activations(1), 4 * input + layer + ends);
  EXPECT_EQ(activations(0.5), 2 * layer + 2 * input + layer + ends);
  EXPECT_EQ(activations(0.3), 3 * layer + input + layer + ends);  // 1.2 layers are one
}

TEST(Memory, BucketsHoldWhatWaitsForItsReduction) {
  // Backward order: head 160, norm 8, ..., so buckets of >= 600 B close at 160 + 8 + 96 + 96 = 360
  // elements, then 96 + 8 + 64 x 4 = 360, 8 + 96 x 3 + 8 = 304, 64 x 4 + 8 + 160 = 424: 848 B.
  const ShardingPlan owner_keeps{{1, 1}, {2, 1}, {2, 1}, {2, 1}, {}};
  EnginePolicy engine;
  engine.bucket = Bytes{600};
  const auto buckets = [&](const ShardingPlan& plan) {
    return estimate_memory(small_model(), small_training(2), plan, engine, cluster_of(1, 1_GiB))
        .part("buckets")
        .value;
  };
  EXPECT_EQ(buckets(owner_keeps), 2 * 848);
  engine.overlap_all_reduce = false;
  EXPECT_EQ(buckets(owner_keeps), 2 * 1448);  // everything waits for the end of the backward
  EXPECT_EQ(buckets({{1, 1}, {1, 1}, {2, 1}, {2, 1}, {}}), 848);
}

TEST(Memory, CommunicatorsAreThoseOfTheGraph) {
  const TrainingSpec training = small_training(2);
  for (const Communicators communicators : {Communicators::kShared, Communicators::kSeparate})
    for (const GradReduction reduction : {GradReduction::kAllReduce, GradReduction::kReduceScatter})
      for (const ShardingPlan& plan : {ShardingPlan{{1, 1}, {1, 1}, {2, 1}, {2, 2}, {}},
                                       ShardingPlan{{2, 1}, {2, 1}, {2, 1}, {2, 2}, {}},
                                       ShardingPlan{{1, 1}, {2, 2}, {2, 2}, {2, 2}, {}},
                                       ShardingPlan{{2, 2}, {2, 2}, {2, 2}, {2, 2}, Mesh{2, 1}},
                                       ShardingPlan{{1, 1}, {1, 1}, {1, 1}, {2, 2}, {}}}) {
        EnginePolicy engine;
        engine.communicators = communicators;
        engine.grad_reduction = reduction;
        const TaskGraph graph = build_schedule(small_model(), training, plan, engine);
        EXPECT_EQ(communicator_count(training, plan, engine),
                  static_cast<int>(graph.streams().size()) - 1)
            << to_string(plan);
      }
}

TEST(Memory, AdviceNamesWhatFits) {
  const ModelSpec model = model_preset("llama-13b");
  const ShardingPlan plan{{1, 1}, {1, 1}, {8, 1}, {8, 8}, {}};
  const auto advice = memory_advice(model, paper_training(), plan, {}, cluster_of(8, 80_GiB));
  ASSERT_FALSE(advice.empty());
  EXPECT_NE(advice.front().find(" and fits"), std::string::npos) << advice.front();
  EXPECT_TRUE(memory_advice(model, paper_training(), {{4, 1}, {4, 1}, {8, 1}, {8, 8}, {}}, {},
                            cluster_of(8, 80_GiB))
                  .empty());
}

}  // namespace
}  // namespace amsp
