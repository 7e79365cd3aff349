#include "schedule/kernel_traffic.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"

namespace amsp {

KernelTraffic::KernelTraffic(const ModelSpec& model, const TrainingSpec& training)
    : model_(model),
      training_(training),
      stack_(training.stack),
      tokens_(training.tokens()),
      e_(training.parameter_bytes),
      w_(training.wide_bytes()),
      c_(e_ == w_ ? 0 : e_ + w_),
      g_(training.gradient_bytes) {}

PassTraffic KernelTraffic::norm_kernels(NormKind kind, bool with_residual) const {
  const int casts = c_ == 0 ? 0 : 2;
  // Eager PyTorch computes RMSNorm by its formula, LayerNorm by a kernel of its own.
  const bool native = stack_.norm == NormKernels::kEager && kind == NormKind::kLayer;
  switch (native ? NormKernels::kNative : stack_.norm) {
    case NormKernels::kEager:
      // Forward: cast c, x^2 2w, mean w, + eps and rsqrt (a number a token), x r 2w, cast c, times
      // weight 2e. Backward: dy times weight 2e, dy x 3e, its sum over tokens e, cast c, four fp32
      // products 3w + 2w + 3w + 2w, row sum w, expand w, x^1 2w, add 3w, cast c; three tiny ones.
      return {{2 * e_ + 5 * w_ + 2 * c_, 6 + casts}, {6 * e_ + 17 * w_ + 2 * c_, 14 + casts}};
    case NormKernels::kNative:
      // native_layer_norm: x in, y out; dx: dy, x in, dx out; weight and bias: dy, x in again.
      return {{2 * e_, 1}, {5 * e_, 2}};
    case NormKernels::kFused:
      // x in, y out; dy, x in, dx out, and a small kernel that adds up the weight's gradient.
      return {{2 * e_, 1}, {3 * e_, 2}};
    case NormKernels::kWithResidual:
      // Forward: x and branch in, sum and y out. Backward, in two kernels: partial sums of the
      // weight's gradient read dy and x; dx reads them again with the residual's gradient.
      if (with_residual) return {{4 * e_, 1}, {6 * e_, 2}};
      return {{2 * e_, 1}, {5 * e_, 2}};
    case NormKernels::kMixed:
      // The residual is cast c; x fp32 in, y out. Backward: x and rounds of dy in fp32 3w, dy in
      // and dx out 2e, cast c.
      return {{w_ + e_ + c_, 2}, {3 * w_ + 2 * e_ + c_, 3}};
  }
  throw InternalError("a NormKernels outside its enumeration");
}

PassTraffic KernelTraffic::norm(Module module) const {
  const double th = tokens_ * model_.hidden;
  PassTraffic one = norm_kernels(model_.norm, true);
  if (stack_.recompute_norms) one.backward = one.backward + one.forward;
  // Products that read the norm's output: their gradients of it are added by kernels of their own,
  // or read one by one by both kernels of the norm's backward.
  const bool qkv = module == Module::kAttentionNorm && !model_.fused_qkv;
  const bool gate_up = module == Module::kFfnNorm && model_.gated && !model_.fused_gate_up;
  const int further = qkv ? 2 : gate_up ? 1 : 0;
  if (stack_.norm == NormKernels::kWithResidual)
    one.backward.bytes += further * 2 * e_;
  else if ((qkv && stack_.qkv_gradients == InputGradients::kAdded) ||
           (gate_up && stack_.gate_up_gradients == InputGradients::kAdded))
    one.backward = one.backward + Traffic{further * 3 * e_, further};
  return {th * one.forward, th * one.backward};
}

PassTraffic KernelTraffic::qk_norm() const {
  const double width = tokens_ * (model_.heads + model_.kv_heads) * model_.head_dim;
  const PassTraffic one = norm_kernels(NormKind::kRms, false);
  return {width * one.forward, width * one.backward};
}

PassTraffic KernelTraffic::residual(Module module) const {
  const double th = tokens_ * model_.hidden;
  if (stack_.norm == NormKernels::kWithResidual) return {};
  if (stack_.residual == ResidualKernels::kBiasDropout)
    // bias-dropout-add: x, residual in, y out, a mask of 1 B out. Backward: dy, mask in, dx out;
    // the bias' gradient reads e; the residual's gradient is added 3e.
    return {th * Traffic{3 * e_ + 1, 1}, th * Traffic{2 * e_ + 1 + e_ + 3 * e_, 3}};
  PassTraffic add{{3 * e_, 1}, {3 * e_, 1}};
  // The ffn norm's input is the attention's sum.
  if (stack_.recompute_norms && module == Module::kAttentionResidual)
    add.backward = add.backward + add.forward;
  return {th * add.forward, th * add.backward};
}

PassTraffic KernelTraffic::rotary() const {
  const double width = tokens_ * (model_.heads + model_.kv_heads) * model_.head_dim;
  // Eager, each of q and k: x cos 2e, -x2 e, cat 2e, times sin 2e, add 3e. Backward: two products
  // 4e, neg e, twice fill and copy 4e, two adds 6e.
  if (stack_.rotary == Fusion::kEager)
    return {width * Traffic{10 * e_, 10}, width * Traffic{15 * e_, 18}};
  return {width * Traffic{2 * e_, 2}, width * Traffic{2 * e_, 2}};
}

PassTraffic KernelTraffic::activation() const {
  const double tf = tokens_ * model_.ffn;
  // GELU: one kernel each way; with bias, its gradient reads another time.
  if (!model_.gated) {
    const double bias = stack_.residual == ResidualKernels::kBiasDropout ? e_ : 0;
    return {tf * Traffic{2 * e_, 1}, tf * Traffic{3 * e_ + bias, 1}};
  }
  // silu 2e, product 3e; two products 6e, silu_backward 3e. Fused: gate, up in, y out; dy, gate, up
  // in, two gradients out.
  if (stack_.activation == Fusion::kEager)
    return {tf * Traffic{5 * e_, 2}, tf * Traffic{9 * e_, 3}};
  return {tf * Traffic{3 * e_, 1}, tf * Traffic{5 * e_, 1}};
}

PassTraffic KernelTraffic::embedding() const {
  const double th = tokens_ * model_.hidden;
  PassTraffic result{th * Traffic{2 * e_, 1}, th * Traffic{3 * e_, 1}};
  if (model_.positions == Positions::kLearned) {  // rows of a second table are added
    result.forward = result.forward + th * Traffic{e_, 1};
    result.backward = result.backward + th * Traffic{2 * e_, 1};
  }
  // The table's gradient is filled with zeros before rows are added, indices sorted.
  if (stack_.engine_copies)
    result.backward =
        result.backward + Traffic{e_ * static_cast<double>(model_.vocab) * model_.hidden, 10};
  return result;
}

PassTraffic KernelTraffic::loss() const {
  PassTraffic one;
  switch (stack_.loss) {
    case LossKernels::kSoftmax:  // logits in, fp32 probabilities out; in, gradient out
      one = {{e_ + 2 * w_, 1}, {e_ + w_, 1}};
      break;
    case LossKernels::kFp32:  // cast, log_softmax; fill and scatter, log_softmax', cast
      one = {{c_ + 2 * w_, 3}, {c_ + 4 * w_, 4}};
      break;
    case LossKernels::kFp32Shifted:  // the same on a contiguous copy without the last token
      one = {{c_ + 4 * w_, 4}, {c_ + 7 * w_, 6}};
      break;
    case LossKernels::kBf16:  // log_softmax; fill, log_softmax'
      one = {{2 * e_, 2}, {4 * e_, 3}};
      break;
    case LossKernels::kCompiled:  // logits read twice; in, gradient out
      one = {{2 * e_, 2}, {2 * e_, 1}};
      break;
    case LossKernels::kFused:  // logits in; in, gradient out in place
      one = {{e_, 1}, {2 * e_, 1}};
      break;
    case LossKernels::kParallel:  // cast, max w, minus 2w, exp 2w, sum w, divide 2w; one-hot, cast
      one = {{c_ + 8 * w_, 12}, {c_ + 2 * w_, 4}};
      break;
    case LossKernels::kMetrics:  // cast, fused loss w, and metrics: a second loss w, two maxima 2w,
                                 // argmax w, minus 2w, exp 2w, sum w; gradient 2w, cast
      one = {{c_ + 10 * w_, 20}, {c_ + 2 * w_, 2}};
      break;
    case LossKernels::kComposer:  // fused loss; two metrics, each cast, log_softmax 2w, nll, a
                                  // count
      one = {{e_ + 2 * (c_ + 2 * w_), 9}, {2 * e_, 1}};
      break;
  }
  const double logits = tokens_ * model_.vocab;
  return {logits * one.forward, logits * one.backward};
}

PassTraffic KernelTraffic::beside_attention() const {
  const double q = tokens_ * model_.heads * model_.head_dim;
  const double kv = tokens_ * model_.kv_heads * model_.head_dim;
  PassTraffic result;
  switch (stack_.qkv_layout) {
    case QkvLayout::kViews:
      break;
    case QkvLayout::kCloned:
      result.backward = {2 * e_ * (q + kv), 2};
      break;
    case QkvLayout::kConcatenated:
      result.backward = {2 * e_ * (q + 2 * kv), 1};
      break;
    case QkvLayout::kCopied:
      result.forward = result.backward = {2 * e_ * (2 * q + 2 * kv), 4};
      break;
  }
  if (stack_.attention == AttentionImplementation::kMath) {
    // Masked softmax in and out, dropout with its mask of 1 B; backward: dropout, then softmax with
    // its output read again. The products' own traffic counts with them.
    const double scores = tokens_ * training_.sequence_length * model_.heads;
    const bool dropout = stack_.residual == ResidualKernels::kBiasDropout;
    result.forward = result.forward + scores * Traffic{2 * e_ + (dropout ? 2 * e_ + 1 : 0), 2};
    result.backward = result.backward + scores * Traffic{3 * e_ + (dropout ? 2 * e_ + 1 : 0), 2};
  }
  return result;
}

Traffic KernelTraffic::bias_gradient(std::int64_t width) const {
  if (stack_.bias_gradients == BiasGradients::kFused) return {};
  return tokens_ * static_cast<double>(width) * Traffic{e_, 1};
}

Traffic KernelTraffic::accumulation(double parameters, bool accumulates) const {
  switch (stack_.accumulation) {
    case GradientAccumulation::kInProduct:
      break;
    case GradientAccumulation::kAutograd:  // new gradient in, sum in and out
      if (accumulates) return {(e_ + 2 * g_) * parameters, 1};
      break;
    case GradientAccumulation::kSeparate:  // the same into fp32, from the first on
      return {(e_ + 2 * w_) * parameters, 1};
    case GradientAccumulation::kFused:  // fp32 in and out instead of a gradient out
      return {(2 * w_ - e_) * parameters, 0};
  }
  return {};
}

Traffic KernelTraffic::parameter_copies(double parameters, int passes) const {
  return stack_.engine_copies ? Traffic{2 * e_ * passes * parameters, passes} : Traffic{};
}

Traffic KernelTraffic::gradient_copies(double parameters, int passes) const {
  return stack_.engine_copies ? Traffic{(e_ + g_) * passes * parameters, passes} : Traffic{};
}

double KernelTraffic::norm_bytes() const {
  switch (stack_.optimizer) {
    case OptimizerKernels::kForeach:
    case OptimizerKernels::kFused:
      return 3 * g_;  // norm reads, clip_grad_norm_ scales always
    case OptimizerKernels::kApex:
      return g_;  // scaled inside the step
    case OptimizerKernels::kHybridZero:
      return 5 * g_;  // by tensors of their own in fp32
    case OptimizerKernels::kDeepspeed:
      return 18 * g_ + 9 * g_;  // overflow scan of 8 kernels, norm in fp64
  }
  throw InternalError("an OptimizerKernels outside its enumeration");
}

double KernelTraffic::step_bytes() const {
  const double once = training_.optimizer.traffic_bytes;
  switch (stack_.optimizer) {
    case OptimizerKernels::kForeach:
      return once * 80 / 28;  // Adam in 8 passes: 80 B with fp32 states where one pass moves 28
    case OptimizerKernels::kFused:
    case OptimizerKernels::kApex:
      return once;
    case OptimizerKernels::kHybridZero:
    case OptimizerKernels::kDeepspeed:
      return once + 24;  // flatten 4, to fp32 6, unscale 8, copy to bf16 6
  }
  throw InternalError("an OptimizerKernels outside its enumeration");
}

int KernelTraffic::step_launches(double parameters) const {
  constexpr double kElementsOfALaunch = 21e6;  // 320 chunks of 65,536
  const auto launches = static_cast<int>(std::ceil(parameters / kElementsOfALaunch));
  return std::max(1, launches) * (stack_.optimizer == OptimizerKernels::kForeach ? 8 : 1);
}

}  // namespace amsp
