#pragma once

#include <utility>
#include <vector>

#include "schedule/task_graph.h"
#include "training/model.h"
#include "training/training.h"

namespace amsp {

/// What one module computes for one micro-batch on one rank.
struct ModuleOp {
  Module module = Module::kNone;
  std::vector<TensorId> tensors;  // parameters it reads; empty for most memory-bound modules
  ComputeWork forward;
  std::vector<std::pair<Op, ComputeWork>> backward;  // in order: the weight gradient first
  bool backward_needs_parameters = false;
};

/// The modules of every block in forward order: block_count(model) lists.
/// Bytes of memory-bound modules (T tokens, elements of the parameters' type, fused kernels; reads
/// + writes):
///   norm            forward 2 T h, backward 3 T h elements, of either kind
///   norm of q, k    forward 2 T (h_q + h_kv), backward 3 T (h_q + h_kv)
///   rotary          2 T (h_q + h_kv) both ways
///   residual        3 T h both ways (the backward adds the branch's gradient)
///   SwiGLU          forward 3 T f, backward 5 T f
///   GELU            forward 2 T f, backward 3 T f
///   embedding       forward 2 T h, backward 3 T h; learned positions add a row read for each
///                   token, T h, and in the backward a row read and written, 2 T h
///   loss            forward e + 2 w, backward e + w bytes for each of T V logits: e of an element,
///                   w of a number of the softmax, so 10 and 6 for bf16 logits and fp32 softmax
std::vector<std::vector<ModuleOp>> module_ops(const ModelSpec& model, const TrainingSpec& training,
                                              const std::vector<Tensor>& tensors);

}  // namespace amsp
