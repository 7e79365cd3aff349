#include "training/model.h"

#include <gtest/gtest.h>

#include <set>

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

TEST(ModuleOps, EveryTensorIsReadByItsModule) {
  const auto tensors = model_tensors(small_model());
  std::set<TensorId> read;
  for (const auto& block : module_ops(small_model(), small_training(), tensors))
    for (const ModuleOp& op : block) read.insert(op.tensors.begin(), op.tensors.end());
  EXPECT_EQ(read.size(), tensors.size());
}

TEST(ModuleOps, FlopsAddUpToTheFormulaWithCausalAttentionHalved) {
  const ModelSpec model = small_model();
  const TrainingSpec training = small_training();
  double flop = 0;
  for (const auto& block : module_ops(model, training, model_tensors(model)))
    for (const ModuleOp& op : block) {
      flop += op.forward.flop.value;
      for (const auto& [kind, work] : op.backward) flop += work.flop.value;
    }
  // Per token: 6 Phi_linear; attention 2 S a d L forward and 2.5 times that backward.
  const double expected = 16 * (6.0 * 1248 + 3.5 * 2 * 16 * 8 * 2);
  EXPECT_DOUBLE_EQ(flop, expected);
}

}  // namespace
}  // namespace amsp
