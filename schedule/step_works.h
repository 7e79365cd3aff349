#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "schedule/module_work.h"
#include "schedule/task_graph.h"
#include "training/engine_policy.h"
#include "training/ownership.h"
#include "training/plan.h"

namespace amsp {

/// The compute works of a step, added to a graph once: modules with the copies and sums that engine
/// and stack make around them, the gradient norm, the optimizer. Layers are alike, so they share
/// works; so do micro-batches that do the same with their gradients.
class StepWorks {
 public:
  /// Works of a module, as indices from TaskGraph::add_work.
  struct OpWorks {
    std::int32_t forward;
    std::vector<std::pair<Op, std::int32_t>> backward;
  };

  StepWorks(const ModelSpec& model, const TrainingSpec& training, const ShardingPlan& plan,
            const EnginePolicy& engine, const std::vector<Tensor>& tensors,
            const std::vector<std::vector<ModuleOp>>& blocks, const Ownership& owners,
            TaskGraph& graph);

  const OpWorks& at(int micro_batch, int block, int op) const;
  std::int32_t norm() const { return norm_; }
  std::int32_t step() const { return step_; }

 private:
  using Works = std::vector<std::vector<OpWorks>>;  // by block and module

  std::map<std::pair<bool, bool>, Works> works_;  // by: sums up with those before, reduces
  std::vector<const Works*> of_micro_batch_;
  std::int32_t norm_ = -1, step_ = -1;
};

}  // namespace amsp
