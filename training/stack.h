#pragma once

#include <string>
#include <vector>

namespace amsp {

class ObjectReader;

/// `kMath`: products and softmax as kernels of their own.
enum class AttentionImplementation { kMath, kTriton, kFlash2, kFlash3, kCudnn };
/// `kEager`: one kernel for every operation of the formula; `kNative`: ATen's; `kWithResidual`: a
/// compiler's, which adds the residual as well; `kMixed`: the residual cast to fp32, then apex's.
enum class NormKernels { kEager, kNative, kFused, kWithResidual, kMixed };
enum class Fusion { kEager, kFused };
enum class ResidualKernels { kAdd, kBiasDropout };
/// Gradients of an input that several products read: added by kernels of their own, or by the
/// products or the norm.
enum class InputGradients { kAdded, kFused };
/// A bias' gradient, the sum of its output's over tokens: a kernel of its own, or the product's.
enum class BiasGradients { kSeparate, kFused };
/// Copies of q, k, v between products and attention core: none; dq and dk made contiguous; the
/// three gradients concatenated; all of them and the output copied, both ways.
enum class QkvLayout { kViews, kCloned, kConcatenated, kCopied };
enum class LossKernels {
  kSoftmax,
  kFp32,
  kFp32Shifted,
  kBf16,
  kCompiled,
  kFused,
  kParallel,
  kMetrics,
  kComposer
};
enum class OptimizerKernels { kForeach, kFused, kApex, kHybridZero, kDeepspeed };
/// How gradients of micro-batches add up: by the product itself; by autograd; into fp32 by a kernel
/// of its own, or by the product.
enum class GradientAccumulation { kInProduct, kAutograd, kSeparate, kFused };

/// What software runs the model on one GPU, as switches: which kernels a module becomes, how many
/// bytes each moves (schedule/kernel_traffic.cpp derives them), how many are launched. The engine
/// (engine_policy.h) says when states move between GPUs. The defaults are the stack `reference`:
/// perfectly fused kernels, as the executor runs them.
struct StackSpec {
  std::string name = "reference";
  std::string source;
  AttentionImplementation attention = AttentionImplementation::kFlash2;
  NormKernels norm = NormKernels::kFused;
  Fusion rotary = Fusion::kFused;
  Fusion activation = Fusion::kFused;
  ResidualKernels residual = ResidualKernels::kAdd;
  InputGradients qkv_gradients = InputGradients::kFused;
  InputGradients gate_up_gradients = InputGradients::kFused;
  BiasGradients bias_gradients = BiasGradients::kFused;
  QkvLayout qkv_layout = QkvLayout::kViews;
  LossKernels loss = LossKernels::kSoftmax;
  OptimizerKernels optimizer = OptimizerKernels::kApex;
  GradientAccumulation accumulation = GradientAccumulation::kInProduct;
  bool recompute_norms = false;  // the backward runs norms again instead of keeping their output
  bool engine_copies = false;    // the engine's copies into and out of its buffers are made

  bool operator==(const StackSpec&) const = default;
};

/// "reference" first, then those of data/stacks.json.
const std::vector<std::string>& stack_names();
/// Requires a name of stack_names().
const StackSpec& stack_preset(const std::string& name);
/// What most users of an engine run: with amsp the software of its paper, else eager PyTorch.
/// Requires a name of engine_names().
StackSpec usual_stack(const std::string& engine);

/// Reads those switches that `object` has, by name; others stay. Throws ConfigError.
void read_stack_switches(ObjectReader& object, StackSpec& stack);

}  // namespace amsp
