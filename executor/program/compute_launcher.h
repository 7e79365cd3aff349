#pragma once

#include <vector>

#include "executor/program/gradient_store.h"
#include "executor/program/parameter_store.h"
#include "executor/program/program_context.h"

namespace amsp {

/// Prepares the launches of the model's modules: forward, recompute, backward, micro-batch by
/// micro-batch. Keeps which buffer holds what of the micro-batch under way; a buffer is let go
/// after its last use.
///
/// Gradients flow down the residual stream in `stream_gradient_`; a branch (attention, ffn) hands
/// its own to the residual below it, which adds it.
class ComputeLauncher {
 public:
  /// `tokens`, `losses`: persistent buffers of two slots; see slot_tokens and slot_loss.
  ComputeLauncher(ProgramContext& context, ParameterStore& parameters, GradientStore& gradients,
                  BufferId tokens, BufferId losses);

  TaskLaunch prepare(const Task& task);

 private:
  /// What a block keeps for its backward.
  struct Values {
    Ref input;         // of the block: the residual stream
    Ref norm1, rstd1;  // also the final norm's
    Ref q, k, v;       // k and v inside q's buffer where they are fused
    Ref attention, lse;
    Ref middle;  // residual stream between attention and ffn
    Ref norm2, rstd2;
    Ref gate, up;
    Ref product;
    Ref branch_output;  // of o and down, until the residual has added it
    Ref logits;
  };
  struct Gradients {
    Ref stream;       // of the residual stream
    Ref branch;       // to be added to it
    Ref norm_output;  // of what a norm put out
    Ref attention;
    Ref q, k, v;
    Ref product;
  };

  TaskLaunch forward(const Task& task);
  TaskLaunch backward(const Task& task);
  TaskLaunch linear(const Task& task, Ref x, Ref y, std::int64_t in, std::int64_t out);
  TaskLaunch linear_backward(const Task& task, Ref x, Ref dy, Ref dx, std::int64_t in,
                             std::int64_t out, bool accumulate_dx);
  TaskLaunch norm(const Task& task, Ref x, Ref& y, Ref& rstd);
  TaskLaunch norm_backward(const Task& task, Ref dy, Ref x, Ref rstd, Ref dx);
  TaskLaunch rotary(Ref q, Ref k, bool inverse);
  TaskLaunch residual(Ref a, Ref b, Ref y);

  Ref activation(std::int64_t columns);
  Ref touch(Ref ref);
  std::vector<TensorId> tensors_of(const Task& task) const;

  ProgramContext& context_;
  ParameterStore& parameters_;
  GradientStore& gradients_;
  BufferId tokens_, losses_;
  std::int64_t rows_, hidden_, q_width_, kv_width_, ffn_, vocab_;
  std::int64_t q_stride_, kv_stride_, gate_stride_;
  std::vector<Values> values_;  // by block
  Gradients grad_;
};

}  // namespace amsp
