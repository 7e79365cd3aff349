#pragma once

#include <memory>
#include <vector>

#include "executor/program/optimizer_launcher.h"
#include "executor/program/program_context.h"
#include "training/engine_policy.h"

namespace amsp {

/// A task graph turned into launches on one rank's device. Holds the rank's memory.
class RankProgram {
 public:
  /// `communicators` by stream of the graph, none for compute; they, the device, the graph and the
  /// specs must outlive the program. Allocates the arena: throws DeviceError, with the parts, if it
  /// takes more than `memory_limit` or than the device has.
  RankProgram(const ModelSpec& model, const TrainingSpec& training, const ShardingPlan& plan,
              const EnginePolicy& engine, const TaskGraph& graph, const Hyperparameters& hyper,
              Rank rank, Device& device, Bytes memory_limit,
              const std::vector<std::unique_ptr<Communicator>>& communicators);

  const TaskGraph& graph() const { return context_.graph; }
  void launch(TaskId task, Stream& stream, const StepContext& step) const {
    if (const TaskLaunch& launch = launches_[index(task)]) launch(stream, step);
  }

  const MemoryPlan& memory() const { return memory_; }
  const Addresses& at() const { return *context_.addresses; }
  const ProgramContext& context() const { return context_; }
  /// What the rank's optimizer owns.
  const std::vector<OptimizerLauncher::Part>& owned() const { return owned_; }
  BufferId tokens() const { return tokens_; }
  BufferId losses() const { return losses_; }

 private:
  ProgramContext context_;
  BufferId tokens_ = -1, losses_ = -1;
  std::vector<TaskLaunch> launches_;  // by task; empty for markers
  std::vector<OptimizerLauncher::Part> owned_;
  MemoryPlan memory_;
};

}  // namespace amsp
