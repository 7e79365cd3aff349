#include "schedule/task_graph.h"

#include <utility>

namespace amsp {

const char* to_string(MemoryKernel kernel) {
  switch (kernel) {
    case MemoryKernel::kNone:
      return "-";
    case MemoryKernel::kRmsNorm:
      return "rms_norm";
    case MemoryKernel::kLayerNorm:
      return "layer_norm";
    case MemoryKernel::kRotary:
      return "rotary";
    case MemoryKernel::kResidual:
      return "residual";
    case MemoryKernel::kSwiglu:
      return "swiglu";
    case MemoryKernel::kGelu:
      return "gelu";
    case MemoryKernel::kEmbedding:
      return "embedding";
    case MemoryKernel::kLoss:
      return "loss";
    case MemoryKernel::kGradNorm:
      return "grad_norm";
    case MemoryKernel::kOptimizer:
      return "optimizer";
  }
  return "?";
}

std::vector<MemoryKernel> memory_kernels() {
  std::vector<MemoryKernel> all;
  for (auto kernel = static_cast<int>(MemoryKernel::kRmsNorm);
       kernel <= static_cast<int>(MemoryKernel::kOptimizer); ++kernel)
    all.push_back(static_cast<MemoryKernel>(kernel));
  return all;
}

StreamId TaskGraph::add_stream(StreamSpec stream) {
  streams_.push_back(std::move(stream));
  last_on_stream_.push_back(TaskId{-1});
  return static_cast<StreamId>(streams_.size()) - 1;
}

std::int32_t TaskGraph::add_work(ComputeWork work) {
  computes_.push_back(std::move(work));
  return static_cast<std::int32_t>(computes_.size()) - 1;
}

std::int32_t TaskGraph::add_work(CollectiveWork work) {
  collectives_.push_back(std::move(work));
  return static_cast<std::int32_t>(collectives_.size()) - 1;
}

TaskId TaskGraph::add(Task task, std::span<const TaskId> deps) {
  const auto id = static_cast<TaskId>(tasks_.size());
  AMSP_CHECK(task.stream >= 0 && task.stream < static_cast<int>(streams_.size()),
             "task {} is on unknown stream {}", index(id), task.stream);
  TaskId& last = last_on_stream_[static_cast<std::size_t>(task.stream)];
  for (const TaskId dep : deps) {
    if (dep == TaskId{-1} || dep == last) continue;
    AMSP_CHECK(dep < id, "task {} depends on task {}, not yet added", index(id), index(dep));
    if (std::exchange(last_user_[index(dep)], id) != id) deps_.push_back(dep);
  }
  last_user_.push_back(TaskId{-1});
  previous_.push_back(last);
  last = id;
  first_dep_.push_back(deps_.size());
  tasks_.push_back(task);
  return id;
}

const ComputeWork& TaskGraph::compute(const Task& task) const {
  AMSP_CHECK(task.kind == WorkKind::kCompute, "task is no compute task");
  return computes_[static_cast<std::size_t>(task.work)];
}

const CollectiveWork& TaskGraph::collective(const Task& task) const {
  AMSP_CHECK(task.kind == WorkKind::kCollective, "task is no collective");
  return collectives_[static_cast<std::size_t>(task.work)];
}

std::string TaskGraph::key(TaskId id) const {
  const Task& task = (*this)[id];
  return to_string(task.key, layers,
                   task.kind == WorkKind::kCollective ? &collective(task).call.mesh : nullptr);
}

}  // namespace amsp
