#include "traces/write/kernel_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "core/error.h"
#include "traces/terms/trace_text.h"

namespace amsp {
namespace {

constexpr int kComputeThread = 7;
constexpr int kFirstCommThread = 20;

struct DataType {
  const char* torch;
  const char* nccl;
};

DataType data_type(int element_bytes) {
  switch (element_bytes) {
    case 1:
      return {"Byte", "u8"};
    case 2:
      return {"BFloat16", "bf16"};
    case 4:
      return {"Float", "f32"};
    case 8:
      return {"Double", "f64"};
    default:
      AMSP_CHECK(false, "no data type has {} bytes", element_bytes);
  }
  return {};
}

/// PyTorch's name of the call, and NCCL's of the kernel.
struct CollectiveNames {
  const char* torch;
  const char* nccl;
  bool reduces;
};

CollectiveNames collective_names(CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::kAllGather:
      return {"_allgather_base", "AllGather", false};
    case CollectiveKind::kReduceScatter:
      return {"_reduce_scatter_base", "ReduceScatter", true};
    case CollectiveKind::kAllReduce:
      return {"allreduce", "AllReduce", true};
    case CollectiveKind::kBroadcast:
      return {"broadcast", "Broadcast", false};
  }
  AMSP_CHECK(false, "unknown kind of collective {}", static_cast<int>(kind));
  return {};
}

std::int64_t divide_up(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}

TaskKeyText key_text(const TaskGraph& graph, TaskId task) {
  const std::string key = graph.key(task);
  const auto text = parse_task_key(key);
  AMSP_CHECK(text.has_value(), "'{}' is not of the grammar of task keys", key);
  return *text;
}

const char* compute_prefix(const ComputeWork& work) {
  if (work.gemm() != nullptr) return "gemm ";
  return work.attention() != nullptr ? "flash_" : "";
}

}  // namespace

int trace_stream(StreamId stream) {
  return stream == kComputeStream ? kComputeThread : kFirstCommThread + stream;
}

KernelText::KernelText(const TaskGraph& graph, const ProcessGroups& groups)
    : graph_(graph), groups_(groups) {}

std::string KernelText::name(TaskId id) const {
  const Task& task = graph_[id];
  if (task.kind == WorkKind::kCollective) {
    const CollectiveWork& work = graph_.collective(task);
    const CollectiveNames names = collective_names(work.call.kind);
    return fmt::format(
        "ncclDevKernel_{}{}_RING_LL", names.nccl,
        names.reduces ? fmt::format("_Sum_{}", data_type(work.element_bytes).nccl) : std::string());
  }
  const TaskKeyText key = key_text(graph_, id);
  const bool recompute = task.key.phase == Phase::kRecompute;
  std::string name = compute_prefix(graph_.compute(task));
  name += key.module == "-" ? key.phase : key.module;
  name += " " + (recompute ? key.phase : key.op);
  if (key.layer.starts_with('L')) name += " " + key.layer;
  return name;
}

void KernelText::add_dependency(TaskId dep, std::map<StreamId, TaskId>& last) const {
  if (graph_[dep].kind == WorkKind::kMarker) {
    add_dependencies(dep, last);
    return;
  }
  TaskId& latest = last.try_emplace(graph_[dep].stream, dep).first->second;
  latest = std::max(latest, dep);
}

void KernelText::add_dependencies(TaskId task, std::map<StreamId, TaskId>& last) const {
  for (const TaskId dep : graph_.deps(task)) add_dependency(dep, last);
  const TaskId previous = graph_.stream_predecessor(task);
  const bool through_mark = previous != TaskId{-1} && (graph_[task].kind == WorkKind::kMarker ||
                                                       graph_[previous].kind == WorkKind::kMarker);
  if (through_mark) add_dependency(previous, last);
}

std::string KernelText::dependencies(TaskId task, std::int64_t first_correlation) const {
  std::map<StreamId, TaskId> last;  // of a stream all but the last have ended before it
  add_dependencies(task, last);
  last.erase(graph_[task].stream);
  std::vector<std::int64_t> ids;
  for (const auto& [stream, dep] : last)
    ids.push_back(first_correlation + static_cast<std::int64_t>(dep));
  std::sort(ids.begin(), ids.end());
  return ids.empty() ? "" : fmt::format(R"(, "deps": [{}])", fmt::join(ids, ", "));
}

std::string KernelText::args(const Slice& kernel, std::int64_t first_correlation) const {
  const Task& task = graph_[kernel.task];
  const TaskKeyText key = key_text(graph_, kernel.task);
  std::string text = fmt::format(
      R"("device": {}, "context": 1, "stream": {}, "correlation": {}, "step": {}, "mb": {}, )"
      R"("phase": "{}", "layer": "{}", "module": "{}", "op": "{}")",
      kernel.rank % graph_.dp.intra, trace_stream(task.stream),
      first_correlation + static_cast<std::int64_t>(kernel.task), key.step, key.micro_batch,
      key.phase, key.layer, key.module, key.op);
  if (task.kind == WorkKind::kCollective)
    text += fmt::format(R"(, "group": "{}"{})", key.mesh, collective_args(kernel));
  text += dependencies(kernel.task, first_correlation);
  return text + fmt::format(R"(, "sk": "{}")", graph_.key(kernel.task));
}

std::string KernelText::collective_args(const Slice& kernel) const {
  const CollectiveWork& work = graph_.collective(graph_[kernel.task]);
  const ProcessGroup& group = groups_.group(kernel.task, kernel.rank);
  const std::int64_t whole = divide_up(work.call.bytes.value, work.element_bytes);
  const std::int64_t shard = divide_up(whole, work.call.mesh.size());
  const bool gather = work.call.kind == CollectiveKind::kAllGather;
  const bool scatter = work.call.kind == CollectiveKind::kReduceScatter;
  return fmt::format(
      R"(, "Collective name": "{}", "In msg nelems": {}, "Out msg nelems": {}, "Group size": {}, )"
      R"("dtype": "{}", "Process Group Name": "{}", "Process Group Description": {}, )"
      R"("Process Group Ranks": "{}", "Seq": {}, "wait_ns": {}, "xfer_ns": {})",
      collective_names(work.call.kind).torch, gather ? shard : whole, scatter ? shard : whole,
      work.call.mesh.size(), data_type(work.element_bytes).torch, group.number,
      json_string(group.description), kineto_list(group.ranks), groups_.sequence(kernel.task),
      kernel.wait.value, (kernel.duration - kernel.wait).value);
}

}  // namespace amsp
