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

/// The modules of every block in forward order: block_count(model) lists. What memory-bound ones
/// move, and what is copied beside attention, depends on the stack (kernel_traffic.h).
std::vector<std::vector<ModuleOp>> module_ops(const ModelSpec& model, const TrainingSpec& training,
                                              const std::vector<Tensor>& tensors);

}  // namespace amsp
