#include "executor/program/rank_program.h"

#include <fmt/format.h>

#include "core/error.h"
#include "core/quantity.h"
#include "executor/program/compute_launcher.h"
#include "executor/program/slots.h"

namespace amsp {

namespace {

DType type_of_bytes(int bytes) {
  return bytes == 2 ? DType::kBf16 : bytes == 4 ? DType::kF32 : DType::kF64;
}

/// Steps follow each other without the memory plan knowing: nothing of one may be in use when the
/// optimizer, which all of the next step waits for, starts.
void check_steps_dont_meet(const BufferTable& table, const HappensBefore& before,
                           const TaskGraph& graph) {
  TaskId optimizer{-1};
  for (int i = 0; i < graph.size(); ++i)
    if (graph[static_cast<TaskId>(i)].key.op == Op::kStep) optimizer = static_cast<TaskId>(i);
  for (const BufferTable::Buffer& buffer : table.buffers())
    for (const TaskId user : buffer.last_on_stream)
      AMSP_CHECK(before(user, optimizer), "{} may still run when the next step begins",
                 graph.key(user));
}

}  // namespace

RankProgram::RankProgram(const ModelSpec& model, const TrainingSpec& training,
                         const ShardingPlan& plan, const EnginePolicy& engine,
                         const TaskGraph& graph, const Hyperparameters& hyper, Rank rank,
                         Device& device, Bytes memory_limit,
                         const std::vector<std::unique_ptr<Communicator>>& communicators)
    : context_{model,
               training,
               plan,
               graph,
               hyper,
               device,
               communicators,
               model_tensors(model),
               ShardLayout(model_tensors(model), plan, engine.os_sharding, rank),
               type_of_bytes(training.parameter_bytes),
               type_of_bytes(training.gradient_bytes),
               BufferTable(graph),
               std::make_shared<Addresses>()} {
  device.require(context_.type, context_.grad_type);
  tokens_ = context_.table.persistent(MemoryUse::kInputs, 2 * SlotTokens::slot_bytes(training));
  losses_ = context_.table.persistent(MemoryUse::kInputs, 2 * SlotLoss::slot_bytes(training));
  ParameterStore parameters(context_);
  GradientStore gradients(context_);
  OptimizerLauncher optimizer(context_, parameters, gradients);
  ComputeLauncher compute(context_, parameters, gradients, tokens_, losses_);
  owned_ = optimizer.parts();
  for (int i = 0; i < graph.size(); ++i) {
    context_.current = static_cast<TaskId>(i);
    const Task& task = graph[context_.current];
    launches_.emplace_back();
    TaskLaunch& launch = launches_.back();
    if (task.kind == WorkKind::kMarker) continue;
    switch (task.key.phase) {
      case Phase::kForward:
      case Phase::kRecompute:
        launch =
            task.key.op == Op::kAllGather ? parameters.prepare_gather(task) : compute.prepare(task);
        break;
      case Phase::kBackward:
        launch = task.key.op == Op::kAllGather       ? parameters.prepare_gather(task)
                 : task.key.op == Op::kReduceScatter ? gradients.prepare_scatter(task)
                                                     : compute.prepare(task);
        break;
      case Phase::kGradSync:
        launch = gradients.prepare_reduction(task);
        break;
      case Phase::kOptimizer:
        launch = task.key.op == Op::kNorm        ? optimizer.prepare_norm()
                 : task.key.op == Op::kAllReduce ? optimizer.prepare_norm_reduction(task)
                                                 : optimizer.prepare_step(task);
        break;
      case Phase::kUpdate:
        launch = parameters.prepare_update(task);
        break;
      case Phase::kMark:
        break;
    }
    AMSP_CHECK(launch != nullptr, "{} can't be run", graph.key(context_.current));
  }
  const HappensBefore before(graph);
  check_steps_dont_meet(context_.table, before, graph);
  memory_ = plan_memory(context_.table, before);
  context_.addresses->offsets = memory_.offsets;
  try {
    if (memory_.total > memory_limit.value)
      throw DeviceError(
          fmt::format("out of memory: a rank may use {}", format_bytes_binary(memory_limit)));
    context_.addresses->arena = device.allocate(static_cast<std::size_t>(memory_.total));
  } catch (const DeviceError& error) {
    std::string parts;
    for (const auto& [use, bytes] : memory_.peaks)
      parts +=
          fmt::format("{}{} {}", parts.empty() ? "" : ", ", to_string(use), format_bytes(bytes));
    throw DeviceError(fmt::format("{}; the plan needs {}: {}", error.what(),
                                  format_bytes(Bytes{memory_.total}), parts));
  }
}

}  // namespace amsp
