#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "scenario/scenario.h"
#include "tests/scenario/bad_scenario.h"

namespace amsp {
namespace {

Scenario load(const std::string& name) {
  return load_scenario(data_folder() + "/" + name);
}

TEST(ReadScenario, FillsInTheDefaults) {
  const Scenario base = load("base.json");
  EXPECT_EQ(base.name, "base");
  EXPECT_EQ(base.description, "");
  EXPECT_EQ(base.model.name, "llama-7b");
  EXPECT_EQ(base.training.micro_batch, 1);
  EXPECT_EQ(base.training.micro_batches, 16);  // 1024 / (1 * 64)
  EXPECT_EQ(base.global_batch(), 1024);
  EXPECT_EQ(base.training.recompute, Recompute::kNone);
  EXPECT_EQ(base.training.parameter_bytes, 2);
  EXPECT_EQ(base.training.gradient_bytes, 2);
  EXPECT_EQ(base.training.optimizer.name, "adam");
  EXPECT_TRUE(base.training.clip_gradients);
  EXPECT_EQ(base.plan, (ShardingPlan{{1, 1}, {1, 1}, {8, 8}, {8, 8}, {}}));
  EXPECT_EQ(base.plan_name, "zero1");
  EXPECT_EQ(base.engine.name, "amsp");
  EXPECT_TRUE(base.engine.overlap_broadcast);
  EXPECT_EQ(base.engine.bucket, 512_MiB);
  EXPECT_FALSE(base.report.token_budget);
  EXPECT_FALSE(base.report.price_per_gpu_hour);
}

TEST(ReadScenario, ReadsEveryKey) {
  const Scenario full = load("full-explicit.json");
  const ModelSpec& model = full.model;
  EXPECT_EQ(model.name, "my-model");
  EXPECT_EQ(model.source, "the scenario");
  EXPECT_THAT((std::vector{model.hidden, model.layers, model.heads, model.kv_heads, model.head_dim,
                           model.ffn, model.vocab}),
              testing::ElementsAre(2048, 4, 16, 4, 256, 5632, 32000));
  EXPECT_TRUE(model.tied_embeddings && model.qkv_bias && model.output_bias && model.mlp_bias &&
              model.fused_qkv && model.fused_gate_up);
  EXPECT_EQ(model.norm, NormKind::kLayer);
  EXPECT_FALSE(model.norm_bias);
  EXPECT_EQ(model.positions, Positions::kLearned);
  EXPECT_EQ(model.max_positions, 4096);
  EXPECT_TRUE(model.gated && model.qk_norm);
  EXPECT_EQ(full.cluster.gpus(), 32);
  EXPECT_EQ(full.training.micro_batches, 2);  // 128 / (2 * 32)
  EXPECT_EQ(full.training.recompute, Recompute::kFull);
  EXPECT_EQ(full.training.gradient_bytes, 4);
  EXPECT_EQ(full.training.optimizer.name, "mine");
  EXPECT_EQ(full.training.optimizer.state_bytes, 10);
  EXPECT_EQ(full.training.optimizer.traffic_bytes, 22.5);
  EXPECT_FALSE(full.training.clip_gradients);
  EXPECT_EQ(full.plan, (ShardingPlan{{8, 2}, {8, 2}, {8, 4}, {8, 4}, Mesh{8, 1}}));
  EXPECT_EQ(full.plan_name, "explicit");
  EXPECT_EQ(full.report.token_budget, 2e12);
  EXPECT_EQ(full.report.price_per_gpu_hour, 2.5);
  EXPECT_EQ(full.report.currency, "USD");
}

TEST(ReadScenario, ReadsEverySwitchOfTheEngine) {
  const EnginePolicy engine = load("full-explicit.json").engine;
  EXPECT_FALSE(engine.overlap_gather || engine.overlap_all_reduce || engine.overlap_broadcast ||
               engine.decoupled_reduce_scatter);
  EXPECT_EQ(engine.prefetch_layers, 2);
  EXPECT_EQ(engine.bucket, 1_GiB);
  EXPECT_EQ(engine.max_pending_reduce, 7);
  EXPECT_EQ(engine.communicators, Communicators::kShared);
  EXPECT_EQ(engine.gather_unit, GatherUnit::kBlock);
  EXPECT_EQ(engine.reduce_unit, GatherUnit::kBlock);
  EXPECT_EQ(engine.grad_reduction, GradReduction::kReduceScatter);
  EXPECT_EQ(engine.param_update, ParamUpdate::kAllGather);
  EXPECT_EQ(engine.os_sharding, OsSharding::kFlat);
  EXPECT_EQ(engine.replica_sync, ReplicaSync::kEvery);
}

TEST(ReadScenario, OverridesPresets) {
  const Scenario scenario = load("full-preset.json");
  EXPECT_EQ(scenario.model.name, "llama-7b-changed");
  EXPECT_EQ(scenario.model.kv_heads, 8);
  EXPECT_EQ(scenario.model.head_dim, 128);
  EXPECT_TRUE(scenario.model.fused_qkv);
  EXPECT_EQ(scenario.cluster.nodes, 16);
  EXPECT_EQ(scenario.cluster.fabric.spines, 4);
  EXPECT_EQ(scenario.plan, (ShardingPlan{{8, 2}, {8, 2}, {8, 2}, {8, 8}, {}}));
  EXPECT_EQ(scenario.plan_name, "hsdp-16");
  EXPECT_EQ(scenario.global_batch(), 3 * 64);
}

TEST(ReadScenario, AFusedPresetIsStillThePreset) {
  Json json = base_scenario();
  json["model"]["fused_qkv"] = true;
  json["plan"] = "amsp";
  const Scenario scenario = read_scenario(json, "s.json");
  EXPECT_EQ(scenario.model.name, "llama-7b");
  EXPECT_EQ(scenario.plan.os, (Mesh{8, 1}));
}

TEST(ReadScenario, DimensionsFollowTheOverriddenOnes) {
  Json json = base_scenario();
  json["model"] = {{"preset", "llama-7b"}, {"hidden", 2048}, {"heads", 32}};
  const ModelSpec narrow = read_scenario(json, "s.json").model;
  EXPECT_EQ(narrow.head_dim, 64);  // 2048 / 32
  json["model"] = {{"preset", "llama-7b"}, {"heads", 64}};
  EXPECT_EQ(read_scenario(json, "s.json").model.kv_heads, 64);
  json["model"] = {{"preset", "qwen2-7b"}, {"heads", 56}};
  EXPECT_EQ(read_scenario(json, "s.json").model.kv_heads, 4);
}

TEST(ReadScenario, APresetsStructureCanBeOverridden) {
  Json json = base_scenario();
  json["model"] = {{"preset", "mpt-7b"}, {"max_positions", 4096}};
  const ModelSpec longer = read_scenario(json, "s.json").model;
  EXPECT_EQ(longer.name, "mpt-7b-changed");
  EXPECT_EQ(parameter_count(longer), 6'667'247'616);
  json["model"] = {{"preset", "mpt-7b"}, {"positions", "alibi"}, {"norm_bias", false}};
  const ModelSpec without_table = read_scenario(json, "s.json").model;
  EXPECT_EQ(without_table.max_positions, 0);
  // without the table of 4096 rows, and the biases of 65 norms
  EXPECT_EQ(parameter_count(without_table), 6'667'247'616 - 4096 * 4096 - 65 * 4096);
}

TEST(ReadScenario, NamedAndExplicitPlansAreTheSame) {
  Json json = base_scenario();
  json["plan"] = "zero3";
  const ShardingPlan named = read_scenario(json, "s.json").plan;
  json["plan"] = {{"p", "8x8"}, {"g", "8x8"}, {"os", "8x8"}};
  EXPECT_EQ(read_scenario(json, "s.json").plan, named);
}

TEST(ReadScenario, AnEngineObjectNeedsNoPreset) {
  Json json = base_scenario();
  json["engine"] = {{"overlap", {{"broadcast", false}}}};
  const EnginePolicy engine = read_scenario(json, "s.json").engine;
  EXPECT_EQ(engine.name, "amsp");
  EXPECT_FALSE(engine.overlap_broadcast);
  EXPECT_TRUE(engine.overlap_gather);
}

TEST(ReadScenario, EveryPresetModelByName) {
  for (const std::string& name : model_preset_names()) {
    Json json = base_scenario();
    json["model"] = {{"preset", name}};
    json["training"]["sequence_length"] = 1024;  // the shortest table of positions
    EXPECT_EQ(read_scenario(json, "s.json").model.name, name);
  }
}

TEST(ReadScenario, EveryScenarioThatComesWithTheProduct) {
  namespace fs = std::filesystem;
  int count = 0;
  for (const auto& entry : fs::recursive_directory_iterator(AMSP_SOURCE_DIR "/scenarios")) {
    const fs::path& path = entry.path();
    if (path.extension() != ".json" || path.filename() == "config.json" ||
        path.parent_path().filename() == "clusters" || path.stem().extension() == ".schema")
      continue;
    SCOPED_TRACE(path);
    EXPECT_NO_THROW({
      const Scenario scenario = load_scenario(path);
      EXPECT_EQ(scenario.name, path.stem());
      EXPECT_FALSE(scenario.description.empty());
    });
    ++count;
  }
  EXPECT_GT(count, 100);
}

TEST(ReadScenario, SharesAndTypesOfProducts) {
  const Scenario scenario = load("full-hf.json");
  EXPECT_EQ(scenario.training.recompute, Recompute::kFull);
  EXPECT_EQ(scenario.training.recompute_share, 0.5);
  EXPECT_TRUE(scenario.training.tf32);
  EXPECT_EQ(matrix_peak(scenario).type, "tf32");
  EXPECT_EQ(matrix_peak(scenario).rate, 494_TFLOPS);  // H100's
}

}  // namespace
}  // namespace amsp
