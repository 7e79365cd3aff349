#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "executor/interface/communicator.h"
#include "executor/interface/device.h"
#include "executor/program/buffers.h"
#include "executor/program/shard_layout.h"
#include "schedule/task_graph.h"
#include "training/model.h"
#include "training/plan.h"
#include "training/training.h"

namespace amsp {

/// What the optimizer and the model need beyond a scenario.
struct Hyperparameters {
  std::uint64_t seed = 1;  // of the initial parameters
  double learning_rate = 1e-3;
  double beta1 = 0.9, beta2 = 0.95, epsilon = 1e-8;
  double weight_decay = 0.1;  // of matrices; norms and biases don't decay
  double max_norm = 1;        // where the scenario clips gradients
  double initial_deviation = 0.02;
  double rotary_theta = 10000;
  double norm_epsilon = 1e-5;
};

/// Which step a task is launched for.
struct StepContext {
  std::int64_t step;  // from 1; 0 for the tail that publishes the initial parameters
  int slot;           // 0 or 1, in turn: where the step's tokens and losses lie
};

/// Enqueues one task.
using TaskLaunch = std::function<void(Stream&, const StepContext&)>;

/// Where the buffers of a placed program are.
struct Addresses {
  std::shared_ptr<void> arena;
  std::vector<std::int64_t> offsets;  // by buffer

  void* operator()(Ref ref) const {
    return static_cast<std::byte*>(arena.get()) + offsets[static_cast<std::size_t>(ref.buffer)] +
           ref.offset;
  }
};

/// What the parts of a rank's program share while it is prepared, task by task in graph order.
struct ProgramContext {
  const ModelSpec& model;
  const TrainingSpec& training;
  const ShardingPlan& plan;
  const TaskGraph& graph;
  const Hyperparameters& hyper;
  Device& device;
  const std::vector<std::unique_ptr<Communicator>>& communicators;  // by stream; compute: null
  std::vector<Tensor> tensors;
  ShardLayout shards;
  DType type, grad_type;
  BufferTable table;
  std::shared_ptr<Addresses> addresses;  // to be filled when all are prepared
  TaskId current{-1};

  const Tensor& tensor(TensorId id) const { return tensors[static_cast<std::size_t>(id)]; }
  std::int64_t bytes(std::int64_t elements) const { return elements * size_of(type); }
  std::int64_t grad_bytes(std::int64_t elements) const { return elements * size_of(grad_type); }
  std::int64_t wide_bytes(std::int64_t elements) const { return elements * size_of(wide(type)); }

  /// The task being prepared reads or writes the buffer.
  Ref use(BufferId buffer) {
    table.touch(buffer, current);
    return {buffer, 0};
  }
  Ref make(MemoryUse what, std::int64_t bytes_needed) {
    return use(table.transient(what, bytes_needed));
  }
};

}  // namespace amsp
