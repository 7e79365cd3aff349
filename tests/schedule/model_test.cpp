#include "training/model.h"

#include <gtest/gtest.h>

#include <set>
#include <sstream>
#include <utility>

#include "schedule/module_work.h"
#include "tests/schedule/small_model.h"

namespace amsp {
namespace {

double billions(const ModelSpec& model) {
  return static_cast<double>(parameter_count(model)) / 1e9;
}

TEST(Model, CountsTheSmallModelByHand) {
  EXPECT_EQ(parameter_count(small_model()), 160 + 2 * 560 + 8 + 160);
  // Matrix products only: 2 x (4 x 64 + 3 x 96) + head 160.
  EXPECT_EQ(linear_parameter_count(small_model()), 2 * (256 + 288) + 160);
}

TEST(Model, FlopPerTokenByHand) {
  // 3 (2 x 1248 + 4 x 16 x 2 x 4 x 2)
  EXPECT_DOUBLE_EQ(training_flop_per_token(small_model(), 16).value, 3 * (2 * 1248 + 1024));
}

TEST(Model, FullHeadFlopsAreThePapersFormula) {
  const ModelSpec model = model_preset("llama-7b");
  const double h = model.hidden;
  const double s = 4096;
  // The formula of the paper takes f = 8/3 h; with the real f each layer has 6 h f more.
  const double paper = 3 * model.layers * (24 * h * h + 4 * s * h) + 6 * h * model.vocab;
  const double ffn = 3 * model.layers * 6 * h * (model.ffn - 8.0 / 3 * h);
  EXPECT_NEAR(training_flop_per_token(model, 4096).value, paper + ffn, 1e-6 * paper);
}

TEST(Model, PaperModelsHaveTheirSizes) {
  EXPECT_NEAR(billions(model_preset("llama-7b")), 6.738, 0.001);
  EXPECT_NEAR(billions(model_preset("llama-13b")), 13.016, 0.001);
  EXPECT_NEAR(billions(model_preset("llama-30b")), 27.57, 0.05);
  EXPECT_EQ(model_tensors(model_preset("llama-7b")).size(), 291U);
}

TEST(Model, TiedHeadHasNoTensorOfItsOwn) {
  ModelSpec model = small_model();
  model.tied_embeddings = true;
  EXPECT_EQ(parameter_count(model), 1448 - 160);
  const auto tensors = model_tensors(model);
  const auto blocks = module_ops(model, small_training(), tensors);
  for (const ModuleOp& op : blocks.back())
    EXPECT_EQ(op.tensors == std::vector<TensorId>{0}, op.module == Module::kHead);
}

TEST(Model, FusedProjectionsKeepTheParameters) {
  ModelSpec model = small_model();
  model.qkv_bias = true;
  model.kv_heads = 1;
  const std::int64_t separate = parameter_count(model);
  model.fused_qkv = model.fused_gate_up = true;
  EXPECT_EQ(parameter_count(model), separate);
}

/// LayerNorm, GELU without a gate, learned positions.
ModelSpec small_gpt() {
  ModelSpec model = small_model();
  model.norm = NormKind::kLayer;
  model.gated = false;
  model.positions = Positions::kLearned;
  model.max_positions = 16;
  return model;
}

TEST(Model, CountsLayerNormGeluAndLearnedPositionsByHand) {
  ModelSpec model = small_gpt();
  // A layer: 2 norms of 8 + 8, 4 x 64, 2 x 96; ends: table 160, positions 16 x 8, norm, head 160.
  EXPECT_EQ(parameter_count(model), 2 * (32 + 256 + 192) + 160 + 128 + 16 + 160);
  EXPECT_EQ(linear_parameter_count(model), 2 * (256 + 192) + 160);
  model.norm_bias = false;
  EXPECT_EQ(parameter_count(model), 2 * (16 + 256 + 192) + 160 + 128 + 8 + 160);
}

TEST(Model, NormsOfQueriesAndKeysAreOfAHead) {
  ModelSpec model = small_model();
  model.qk_norm = true;
  EXPECT_EQ(parameter_count(model), 1448 + 2 * 2 * 4);
}

TEST(Model, ATiedHeadDoesntReadThePositions) {
  ModelSpec model = small_gpt();
  model.tied_embeddings = true;
  const auto blocks = module_ops(model, small_training(), model_tensors(model));
  EXPECT_EQ(blocks.front().front().tensors, (std::vector<TensorId>{0, 1}));
  for (const ModuleOp& op : blocks.back()) {
    if (op.module == Module::kHead) {
      EXPECT_EQ(op.tensors, std::vector<TensorId>{0});
    }
  }
}

std::vector<std::string> modules_of_a_layer(const ModelSpec& model) {
  std::vector<std::string> names;
  const auto blocks = module_ops(model, small_training(), model_tensors(model));
  for (const ModuleOp& op : blocks[1]) names.emplace_back(to_string(op.module));
  return names;
}

TEST(ModuleOps, FollowTheFamily) {
  const auto names = [](const char* text) {
    std::vector<std::string> result;
    std::istringstream words(text);
    for (std::string word; words >> word;) result.push_back(word);
    return result;
  };
  ModelSpec model = small_model();
  EXPECT_EQ(modules_of_a_layer(model),
            names("attn_norm q k v rotary attention o attn_residual ffn_norm gate up swiglu down "
                  "ffn_residual"));
  model.qk_norm = true;
  model.positions = Positions::kNone;
  model.fused_gate_up = true;
  EXPECT_EQ(modules_of_a_layer(model),
            names("attn_norm q k v qk_norm attention o attn_residual ffn_norm gate_up swiglu down "
                  "ffn_residual"));
  EXPECT_EQ(modules_of_a_layer(small_gpt()),
            names("attn_norm q k v attention o attn_residual ffn_norm up gelu down ffn_residual"));
}

TEST(ModuleOps, BytesOfAFamilyByHand) {
  ModelSpec model = small_gpt();
  model.qk_norm = true;
  const auto blocks = module_ops(model, small_training(), model_tensors(model));
  const auto bytes = [&blocks](int block, Module module) {
    for (const ModuleOp& op : blocks[static_cast<std::size_t>(block)])
      if (op.module == module) return std::pair(op.forward.bytes, op.backward.front().second.bytes);
    return std::pair(0.0, 0.0);
  };
  // 16 tokens of 2 bytes: h 8, ffn 12, q and k 8 each
  EXPECT_EQ(bytes(0, Module::kEmbedding), std::pair(3 * 256.0, 5 * 256.0));
  EXPECT_EQ(bytes(1, Module::kGelu), std::pair(2 * 384.0, 3 * 384.0));
  EXPECT_EQ(bytes(1, Module::kQkNorm), std::pair(2 * 512.0, 3 * 512.0));
  EXPECT_EQ(bytes(1, Module::kFfnNorm), std::pair(2 * 256.0, 3 * 256.0));
}

TEST(ModuleOps, EveryTensorIsReadByItsModule) {
  ModelSpec qwen3 = small_model();
  qwen3.qk_norm = true;
  for (const ModelSpec& model : {small_model(), small_gpt(), qwen3}) {
    const auto tensors = model_tensors(model);
    std::set<TensorId> read;
    for (const auto& block : module_ops(model, small_training(), tensors))
      for (const ModuleOp& op : block) read.insert(op.tensors.begin(), op.tensors.end());
    EXPECT_EQ(read.size(), tensors.size());
  }
}

TEST(ModuleOps, FlopsAddUpToTheFormulaWithCausalAttentionHalved) {
  const TrainingSpec training = small_training();
  for (const ModelSpec& model : {small_model(), small_gpt()}) {
    double flop = 0;
    for (const auto& block : module_ops(model, training, model_tensors(model)))
      for (const ModuleOp& op : block) {
        flop += op.forward.flop.value;
        for (const auto& [kind, work] : op.backward) flop += work.flop.value;
      }
    // Per token: 6 Phi_linear; attention 2 S a d L forward and 2.5 times that backward.
    const double expected = 16 * (6.0 * (model.gated ? 1248 : 1056) + 3.5 * 2 * 16 * 8 * 2);
    EXPECT_DOUBLE_EQ(flop, expected);
  }
}

}  // namespace
}  // namespace amsp
