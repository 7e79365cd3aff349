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

TEST(HfConfig, ReadsQwen3WithItsNormsOfHeads) {
  Json json = read_json_file(data_folder() + "/hf/qwen3-8b.json");
  const ModelPart part = read_hf_config(json, "c.json");
  EXPECT_TRUE(part.spec.qk_norm);
  EXPECT_FALSE(part.spec.qkv_bias || part.spec.output_bias || part.window);
  EXPECT_EQ(parameter_count(part.spec), parameter_count(model_preset("qwen3-8b")));
  json["hidden_size"] = 2048;  // 32 heads of 64, were it not for the family's default
  json.erase("head_dim");
  EXPECT_EQ(read_hf_config(json, "c.json").spec.head_dim, 128);
}

TEST(HfConfig, ReadsGpt2) {
  Json json = read_json_file(data_folder() + "/hf/gpt2.json");
  const ModelSpec model = read_hf_config(json, "c.json").spec;
  EXPECT_EQ(model.norm, NormKind::kLayer);
  EXPECT_EQ(model.positions, Positions::kLearned);
  EXPECT_FALSE(model.gated);
  EXPECT_TRUE(model.tied_embeddings && model.fused_qkv && model.norm_bias);
  EXPECT_EQ(parameter_count(model), 124'439'808);
  json["n_inner"] = 1000;
  json["tie_word_embeddings"] = false;
  const ModelSpec changed = read_hf_config(json, "c.json").spec;
  EXPECT_EQ(changed.ffn, 1000);
  EXPECT_FALSE(changed.tied_embeddings);
}

TEST(HfConfig, ReadsMptWithoutBiasesAndWithAlibi) {
  const ModelSpec model = read("mpt-7b.json").spec;
  EXPECT_EQ(model.norm, NormKind::kLayer);
  EXPECT_EQ(model.positions, Positions::kAlibi);
  EXPECT_FALSE(model.gated || model.norm_bias || model.qkv_bias || model.mlp_bias);
  EXPECT_EQ(parameter_count(model), 6'649'286'656);  // as released
}

TEST(HfConfig, ReadsWhatMptCanHaveInstead) {
  Json json = read_json_file(data_folder() + "/hf/mpt-7b.json");
  json["no_bias"] = false;
  json["vocab_size"] = 50368;
  json["attn_config"]["alibi"] = false;
  EXPECT_EQ(parameter_count(read_hf_config(json, "c.json").spec), 6'658'859'008);
  json["attn_config"]["rope"] = true;
  json["attn_config"]["attn_type"] = "grouped_query_attention";
  json["attn_config"]["kv_n_heads"] = 8;
  const ModelSpec model = read_hf_config(json, "c.json").spec;
  EXPECT_EQ(model.positions, Positions::kRotary);
  EXPECT_EQ(model.max_positions, 0);
  EXPECT_EQ(model.kv_heads, 8);
  json["attn_config"]["attn_type"] = "multiquery_attention";
  EXPECT_EQ(read_hf_config(json, "c.json").spec.kv_heads, 1);
  json["attn_config"]["rope"] = json["learned_pos_emb"] = false;
  EXPECT_EQ(read_hf_config(json, "c.json").spec.positions, Positions::kNone);
}

struct Refused {
  const char* name;
  const char* base;
  const char* patch;
  const char* message;
};
void PrintTo(const Refused& test, std::ostream* out) {
  *out << test.name;
}
class HfStructure : public testing::TestWithParam<Refused> {};

TEST_P(HfStructure, IsRefusedIfAModelCantSayIt) {
  Json json = read_json_file(data_folder() + "/hf/" + GetParam().base);
  json.merge_patch(parse_json(GetParam().patch, "the patch"));
  try {
    read_hf_config(json, "c.json");
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_STREQ(error.what(), GetParam().message);
  }
}

constexpr Refused kRefused[] = {
    {"GptWithRelu", "gpt2.json", R"({"activation_function": "relu"})",
     "c.json#/activation_function: must be one of gelu, gelu_new, gelu_fast, gelu_pytorch_tanh; "
     "found \"relu\"; did you mean 'gelu'?"},
    {"GptBesideAnEncoder", "gpt2.json", R"({"add_cross_attention": true})",
     "c.json#/add_cross_attention: is not supported: must be false"},
    {"MptWithUnsaidBiases", "mpt-7b.json", R"({"no_bias": null})", "c.json#/no_bias: is missing"},
    {"MptWithUnsaidPositions", "mpt-7b.json", R"({"attn_config": {"alibi": null}})",
     "c.json#/attn_config/alibi: is missing"},
    {"MptWithNormedQueries", "mpt-7b.json", R"({"attn_config": {"qk_ln": true}})",
     "c.json#/attn_config/qk_ln: is not supported: must be false"},
    {"MptWithClampedQueries", "mpt-7b.json", R"({"attn_config": {"clip_qkv": 6}})",
     "c.json#/attn_config/clip_qkv: is not supported: must be null"},
    {"MptWithAWindow", "mpt-7b.json", R"({"attn_config": {"sliding_window_size": 1024}})",
     "c.json#/attn_config/sliding_window_size: must be a whole number from -1 to -1, found 1024"},
    {"MptWithAnotherNorm", "mpt-7b.json", R"({"norm_type": "rmsnorm"})",
     "c.json#/norm_type: must be one of layernorm, low_precision_layernorm; found \"rmsnorm\""},
    {"MptWithAGate", "mpt-7b.json", R"({"ffn_config": {"ffn_type": "mptglu"}})",
     "c.json#/ffn_config/ffn_type: must be one of mptmlp; found \"mptglu\"; did you mean "
     "'mptmlp'?"},
    {"MptWithAnotherActivation", "mpt-7b.json",
     R"({"ffn_config": {"ffn_act_fn": {"name": "silu"}}})",
     "c.json#/ffn_config/ffn_act_fn/name: must be one of gelu; found \"silu\"; did you mean "
     "'gelu'?"},
    {"MptTooWide", "mpt-7b.json", R"({"expansion_ratio": 1000})",
     "c.json#/expansion_ratio: makes 4.096e+06 of 4096; must make 1 to 1048576"},
};
INSTANTIATE_TEST_SUITE_P(, HfStructure, testing::ValuesIn(kRefused),
                         [](const auto& test) { return test.param.name; });

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
