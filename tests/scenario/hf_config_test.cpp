#include "scenario/hf_config.h"

#include <gtest/gtest.h>

#include "tests/scenario/bad_scenario.h"
#include "training/model.h"

namespace amsp {
namespace {

ModelPart read(const std::string& name) {
  return read_hf_config(read_json_file(data_folder() + "/hf/" + name), name);
}

TEST(HfConfig, ReadsALlamaFromBeforeGroupedQueries) {
  const ModelSpec model = read("llama-1-13b.json").spec;
  EXPECT_EQ(model.name, "somebody/llama-13b");
  EXPECT_EQ(model.kv_heads, 40);
  EXPECT_EQ(model.head_dim, 128);  // 5120 / 40
  EXPECT_FALSE(model.tied_embeddings);
  EXPECT_EQ(parameter_count(model), parameter_count(model_preset("llama-13b")));
}

TEST(HfConfig, ReadsALlamaWithTiedEmbeddings) {
  const ModelSpec model = read("llama-3.2-1b.json").spec;
  EXPECT_EQ(model.name, "llama");
  EXPECT_EQ(model.source, "llama-3.2-1b.json");
  EXPECT_TRUE(model.tied_embeddings);
  EXPECT_EQ(model.kv_heads, 8);
  EXPECT_EQ(parameter_count(model), parameter_count(model_preset("llama3.2-1b")));
}

TEST(HfConfig, SetsLlamaBiasesAndTakesNullForAbsent) {
  const ModelSpec model = read("llama-biased.json").spec;
  EXPECT_TRUE(model.qkv_bias);
  EXPECT_TRUE(model.output_bias);
  EXPECT_TRUE(model.mlp_bias);
  EXPECT_EQ(model.kv_heads, 8);
  EXPECT_EQ(model.head_dim, 64);
  EXPECT_FALSE(model.tied_embeddings);
}

TEST(HfConfig, ReadsMistralAndItsWindow) {
  const ModelPart part = read("mistral-7b-v0.1.json");
  EXPECT_EQ(part.spec.kv_heads, 8);
  EXPECT_FALSE(part.spec.qkv_bias);
  EXPECT_EQ(parameter_count(part.spec), 7'241'732'096);
  ASSERT_TRUE(part.window);
  EXPECT_EQ(part.window->tokens, 4096);
  EXPECT_EQ(part.window->where, "mistral-7b-v0.1.json#/sliding_window");
}

TEST(HfConfig, ReadsQwen2WithItsBiasesAndUnusedWindow) {
  const ModelPart part = read("qwen2-7b.json");
  EXPECT_TRUE(part.spec.qkv_bias);
  EXPECT_FALSE(part.spec.output_bias);
  EXPECT_EQ(parameter_count(part.spec), parameter_count(model_preset("qwen2-7b")));
  EXPECT_FALSE(part.window);
}

TEST(HfConfig, Qwen2HasAWindowOnceItIsUsed) {
  Json json = read_json_file(data_folder() + "/hf/qwen2-7b.json");
  json["use_sliding_window"] = true;
  EXPECT_EQ(read_hf_config(json, "c.json").window->tokens, 131072);
}

TEST(HfConfig, TakesAHeadSizeOfItsOwn) {
  Json json = read_json_file(data_folder() + "/hf/mistral-7b-v0.1.json");
  json["hidden_size"] = 5120;  // 32 heads of 128 are 4096
  json["head_dim"] = 128;
  EXPECT_EQ(read_hf_config(json, "c.json").spec.head_dim, 128);
}

TEST(HfConfig, IsReadFromTheScenariosFolder) {
  const std::string file = data_folder() + "/full-hf.json";
  const ModelSpec model = load_scenario(file).model;
  EXPECT_EQ(model.name, "my llama");
  EXPECT_EQ(model.hidden, 2048);
  EXPECT_TRUE(model.fused_qkv);
  EXPECT_TRUE(model.fused_gate_up);
  EXPECT_EQ(model.source, data_folder() + "/hf/llama-3.2-1b.json");
}

TEST(HfConfig, AWindowThatHoldsTheSequenceIsFine) {
  Json json = base_scenario();
  json["model"] = {{"hf_config", "hf/mistral-7b-v0.1.json"}};
  EXPECT_EQ(outcome_of(json).message, "");
}

}  // namespace
}  // namespace amsp
