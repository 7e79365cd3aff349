#include "schedule/kernel_traffic.h"

#include <gtest/gtest.h>

#include "schedule/module_work.h"
#include "tests/schedule/small_model.h"

namespace amsp {
namespace {

struct LayerTraffic {
  Traffic forward, backward;  // bytes per token and hidden element
};

/// LLaMA-7B's proportions: full-head attention, f = 2.6875 h.
LayerTraffic layer_under(const StackSpec& stack) {
  ModelSpec model = small_model();
  model.hidden = 1024;
  model.heads = model.kv_heads = 8;
  model.head_dim = 128;
  model.ffn = 2752;
  TrainingSpec training = small_training();
  training.stack = stack;
  const double th = 1.0 * training.tokens() * model.hidden;
  const auto layer = module_ops(model, training, model_tensors(model))[1];
  LayerTraffic sum;
  const auto add = [&](Traffic& to, const ComputeWork& work) {
    to = to + work.copies;
    if (work.memory() != nullptr) to = to + Traffic{work.bytes, work.launches};
  };
  for (const ModuleOp& op : layer) {
    add(sum.forward, op.forward);
    for (const auto& [kind, work] : op.backward) add(sum.backward, work);
  }
  return {{sum.forward.bytes / th, sum.forward.launches},
          {sum.backward.bytes / th, sum.backward.launches}};
}

// Forward and backward of a layer, counted by hand operation by operation: r = f / h, g = 1.
constexpr double kR = 2.6875;

TEST(KernelTraffic, PerfectFusion) {
  const LayerTraffic layer = layer_under(stack_preset("reference"));
  EXPECT_DOUBLE_EQ(layer.forward.bytes, 20 + 4 * 2 + 6 * kR);
  EXPECT_DOUBLE_EQ(layer.backward.bytes, 24 + 4 * 2 + 10 * kR);
}

TEST(KernelTraffic, EagerMovesFiveTimesAsMuch) {
  const LayerTraffic layer = layer_under(stack_preset("eager"));
  EXPECT_DOUBLE_EQ(layer.forward.bytes, 84 + 20 * 2 + 10 * kR);
  EXPECT_EQ(layer.forward.launches, 30);
  EXPECT_DOUBLE_EQ(layer.backward.bytes, 214 + 34 * 2 + 18 * kR);
  EXPECT_EQ(layer.backward.launches, 60);
}

TEST(KernelTraffic, ACompilerAddsResidualsInTheNorms) {
  const LayerTraffic layer = layer_under(stack_preset("compiled"));
  EXPECT_DOUBLE_EQ(layer.forward.bytes, 16 + 4 * 2 + 6 * kR);
  EXPECT_DOUBLE_EQ(layer.backward.bytes, 36 + 4 * 2 + 10 * kR);
}

TEST(KernelTraffic, ACompilersNormReadsTheGradientOfEveryConsumer) {
  const auto backward = [](bool fused_qkv, bool gated) {
    ModelSpec model = small_model();
    model.fused_qkv = fused_qkv;
    model.gated = gated;
    TrainingSpec training = small_training();
    training.stack = stack_preset("compiled");
    const KernelTraffic traffic(model, training);
    const double th = 1.0 * training.tokens() * model.hidden;
    return std::pair{traffic.norm(Module::kAttentionNorm).backward.bytes / th,
                     traffic.norm(Module::kFfnNorm).backward.bytes / th};
  };
  // Partial sums: dy, x; then dy, x, the residual's gradient in, dx out. Dy once for each consumer.
  EXPECT_EQ(backward(true, false), (std::pair{12.0, 12.0}));
  EXPECT_EQ(backward(false, true), (std::pair{20.0, 16.0}));
}

TEST(KernelTraffic, ABiasGradientReadsWhatTheProductPutOut) {
  ModelSpec model = small_model();
  model.qkv_bias = true;
  model.fused_qkv = true;
  TrainingSpec training = small_training();
  const auto copies_of = [&](Module module) {
    for (const ModuleOp& op : module_ops(model, training, model_tensors(model))[1])
      if (op.module == module) return op.backward.front().second.copies;
    return Traffic{-1, -1};
  };
  training.stack.bias_gradients = BiasGradients::kSeparate;
  const double width = (model.heads + 2.0 * model.kv_heads) * model.head_dim;
  EXPECT_EQ(copies_of(Module::kQkv), (Traffic{2 * training.tokens() * width, 1}));
  EXPECT_EQ(copies_of(Module::kO), Traffic{});  // has none
  training.stack.bias_gradients = BiasGradients::kFused;
  EXPECT_EQ(copies_of(Module::kQkv), Traffic{});
}

TEST(KernelTraffic, ComposerComputesTwoMetricsOfTheLogits) {
  const ModelSpec model = small_model();
  TrainingSpec training = small_training();
  const auto loss = [&](LossKernels kernels) {
    training.stack.loss = kernels;
    return KernelTraffic(model, training).loss();
  };
  const double logits = 1.0 * training.tokens() * model.vocab;
  const PassTraffic fused = loss(LossKernels::kFused), composer = loss(LossKernels::kComposer);
  // A metric: cast 6, log_softmax 8.
  EXPECT_DOUBLE_EQ(composer.forward.bytes - fused.forward.bytes, 2 * 14 * logits);
  EXPECT_EQ(composer.backward, fused.backward);
}

TEST(KernelTraffic, TransformerEngineConcatenatesGradientsOfQkv) {
  const LayerTraffic layer = layer_under(stack_preset("fused"));
  EXPECT_DOUBLE_EQ(layer.forward.bytes, 20 + 4 * 2 + 6 * kR);
  EXPECT_DOUBLE_EQ(layer.backward.bytes, 24 + 4 * 2 + 10 * kR + 4 * 3);
}

TEST(KernelTraffic, InternEvoRunsNormsAgain) {
  const LayerTraffic layer = layer_under(stack_preset("flash-fused"));
  EXPECT_DOUBLE_EQ(layer.forward.bytes, 36 + 4 * 2 + 6 * kR);
  EXPECT_DOUBLE_EQ(layer.backward.bytes, 92 + 4 * 2 + 10 * kR);
}

TEST(KernelTraffic, UnfusedAttentionMovesScores) {
  StackSpec stack = stack_preset("fused");
  const LayerTraffic fused = layer_under(stack);
  stack.attention = AttentionImplementation::kMath;
  const LayerTraffic unfused = layer_under(stack);
  // Softmax in and out; its gradient in and out, its output read: bytes of s/d scores each.
  const double scores = small_training().sequence_length / 128.0;
  EXPECT_DOUBLE_EQ(unfused.forward.bytes - fused.forward.bytes, 4 * scores);
  EXPECT_DOUBLE_EQ(unfused.backward.bytes - fused.backward.bytes, 6 * scores);
}

TEST(KernelTraffic, OfALogit) {
  const ModelSpec model = small_model();
  TrainingSpec training = small_training();
  const double logits = 1.0 * training.tokens() * model.vocab;
  struct Row {
    LossKernels loss;
    double forward, backward;
  };
  for (const Row& row : {Row{LossKernels::kFp32, 14, 22}, Row{LossKernels::kFp32Shifted, 22, 34},
                         Row{LossKernels::kBf16, 4, 8}, Row{LossKernels::kCompiled, 4, 4},
                         Row{LossKernels::kFused, 2, 4}, Row{LossKernels::kParallel, 38, 14},
                         Row{LossKernels::kMetrics, 46, 14}, Row{LossKernels::kSoftmax, 10, 6}}) {
    training.stack.loss = row.loss;
    const PassTraffic loss = KernelTraffic(model, training).loss();
    EXPECT_DOUBLE_EQ(loss.forward.bytes / logits, row.forward);
    EXPECT_DOUBLE_EQ(loss.backward.bytes / logits, row.backward);
  }
}

TEST(KernelTraffic, OfAParameter) {
  const ModelSpec model = small_model();
  TrainingSpec training = small_training();
  training.gradient_bytes = 2;
  const auto bytes = [&](OptimizerKernels kernels) {
    training.stack.optimizer = kernels;
    const KernelTraffic traffic(model, training);
    return std::pair(traffic.norm_bytes(), traffic.step_bytes());
  };
  training.optimizer.traffic_bytes = 28;
  EXPECT_EQ(bytes(OptimizerKernels::kFused), std::pair(6.0, 28.0));
  EXPECT_EQ(bytes(OptimizerKernels::kForeach), std::pair(6.0, 80.0));
  EXPECT_EQ(bytes(OptimizerKernels::kHybridZero), std::pair(10.0, 52.0));
  EXPECT_EQ(bytes(OptimizerKernels::kDeepspeed), std::pair(54.0, 52.0));
  const auto summed = [&](GradientAccumulation accumulation, bool accumulates) {
    training.stack.accumulation = accumulation;
    return KernelTraffic(model, training).accumulation(1, accumulates).bytes;
  };
  EXPECT_EQ(summed(GradientAccumulation::kAutograd, false), 0);
  EXPECT_EQ(summed(GradientAccumulation::kAutograd, true), 6);
  EXPECT_EQ(summed(GradientAccumulation::kSeparate, false), 10);
  EXPECT_EQ(summed(GradientAccumulation::kFused, true), 6);
}

}  // namespace
}  // namespace amsp
