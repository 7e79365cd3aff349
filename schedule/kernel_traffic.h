#pragma once

#include "schedule/compute_work.h"
#include "training/model.h"
#include "training/training.h"

namespace amsp {

/// Forward and backward of a module.
struct PassTraffic {
  Traffic forward, backward;
};

/// What the memory-bound kernels of each module move under a stack, in HBM bytes without cache
/// hits, and how many kernels they are. T tokens of a micro-batch, h hidden, e bytes of an element,
/// w bytes of a statistic (fp32), c = e + w of a cast between the two (0 if they are the same).
/// Each number is counted from the operations that the stack's source launches.
class KernelTraffic {
 public:
  KernelTraffic(const ModelSpec& model, const TrainingSpec& training);

  /// Of kAttentionNorm, kFfnNorm, kFinalNorm. The backward has the sum of the gradients of the
  /// products that read the norm's output, and the forward that the backward repeats.
  PassTraffic norm(Module module) const;
  /// Of kAttentionResidual, kFfnResidual.
  PassTraffic residual(Module module) const;
  PassTraffic rotary() const;
  /// RMSNorm of each head of q and k.
  PassTraffic qk_norm() const;
  PassTraffic activation() const;
  PassTraffic embedding() const;
  PassTraffic loss() const;
  /// Copies of q, k, v and their gradients beside the attention core; with unfused attention the
  /// softmax as well.
  PassTraffic beside_attention() const;

  /// Of a bias of that width, beside the product that has it.
  Traffic bias_gradient(std::int64_t width) const;
  /// Of the gradient of so many parameters, beside the product that computes it. `accumulates`: a
  /// micro-batch before this one has left a gradient.
  Traffic accumulation(double parameters, bool accumulates) const;
  /// Passes of an engine over so many parameters or gradients.
  Traffic parameter_copies(double parameters, int passes) const;
  Traffic gradient_copies(double parameters, int passes) const;

  /// HBM bytes per parameter of the optimizer's shard: what the gradient norm and clipping move,
  /// and the step.
  double norm_bytes() const;
  double step_bytes() const;
  /// Kernels that the optimizer launches for so many parameters.
  int step_launches(double parameters) const;

 private:
  /// Of one element of a norm's input, without what is added to it.
  PassTraffic norm_kernels(NormKind kind, bool with_residual) const;

  const ModelSpec& model_;
  const TrainingSpec& training_;
  const StackSpec& stack_;
  double tokens_, e_, w_, c_, g_;
};

}  // namespace amsp
