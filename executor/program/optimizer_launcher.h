#pragma once

#include <vector>

#include "executor/program/gradient_store.h"
#include "executor/program/parameter_store.h"
#include "executor/program/program_context.h"

namespace amsp {

/// A rank's optimizer states: fp32 (or fp64) master, first and second moment of its owned parts.
/// Prepares the gradient norm and the AdamW step. The tail of step 0 rounds the initial masters
/// into parameters, and its updates bring them to all ranks: so training begins.
class OptimizerLauncher {
 public:
  OptimizerLauncher(ProgramContext& context, ParameterStore& parameters, GradientStore& gradients);

  TaskLaunch prepare_norm();
  TaskLaunch prepare_norm_reduction(const Task& task);
  TaskLaunch prepare_step(const Task& task);

  /// An owned part and where its master lies.
  struct Part {
    TensorId tensor;
    std::int64_t offset;  // of the part in the whole tensor, elements
    std::int64_t count;   // elements, padding included
    Ref master, m, v, parameter, gradient;
  };
  const std::vector<Part>& parts() const { return parts_; }

 private:
  ProgramContext& context_;
  BufferId states_, norm_;
  std::vector<Part> parts_;
};

}  // namespace amsp
