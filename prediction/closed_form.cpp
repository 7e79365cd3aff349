#include "prediction/closed_form.h"

#include <cmath>

#include "schedule/module_work.h"
#include "traces/timeline/analysis.h"

namespace amsp {

ExactCost exact_cost(const Lowering& lowering) {
  const TaskGraph& graph = lowering.graph();
  const int step = graph[graph.window_end].key.step - 1;
  ExactCost cost;
  for (const Task& task : graph.tasks()) {
    if (task.key.step != step || task.kind == WorkKind::kMarker) continue;
    const Seconds time = lowering.slowest(task);
    cost.total += time;
    if (task.kind == WorkKind::kCompute) {
      cost.compute += time;
    } else {
      cost.communication[traffic_class(task.key)] += time;
    }
  }
  return cost;
}

namespace {

Seconds collective(const CollectiveModel& model, CollectiveKind kind, const SubMesh& mesh,
                   double bytes) {
  if (mesh.size() == 1) return Seconds{0};
  CollectiveCall call{kind, mesh, Bytes{std::llround(bytes)}, {}};
  if (kind == CollectiveKind::kBroadcast) {
    call.bytes_by_root.assign(static_cast<std::size_t>(mesh.size()), 0_B);
    call.bytes_by_root.front() = call.bytes;
  }
  return model.time(call).time;
}

}  // namespace

PaperCost paper_cost(const ModelSpec& model, const TrainingSpec& training, const ShardingPlan& plan,
                     const EnginePolicy& engine, const CollectiveModel& collectives) {
  const std::vector<Tensor> tensors = model_tensors(model);
  const double phi = static_cast<double>(parameter_count(model));
  const int s_p = plan.p.size();
  PaperCost cost;
  for (const auto& block : module_ops(model, training, tensors))
    for (const ModuleOp& op : block) {
      double elements = 0;
      for (const TensorId id : op.tensors)
        elements += static_cast<double>(tensors[static_cast<std::size_t>(id)].elements);
      if (elements == 0) continue;
      const double bytes = training.parameter_bytes * elements;
      const SubMesh p = sub_mesh(plan.p);
      const SubMesh backward = plan.p2 ? sub_mesh(*plan.p2) : p;
      Seconds time = collective(collectives, CollectiveKind::kAllGather, p, bytes);
      if (op.backward_needs_parameters)
        time += collective(collectives, CollectiveKind::kAllGather, backward, bytes);
      time += collective(collectives, CollectiveKind::kReduceScatter, p,
                         training.gradient_bytes * elements);
      cost.t_p += static_cast<double>(training.micro_batches) * time;
    }
  const auto bucket = static_cast<double>(engine.bucket.value);
  const double buckets = training.gradient_bytes * phi / (bucket * s_p);
  const auto all_reduce = [&](Mesh a) {
    return collective(collectives, CollectiveKind::kAllReduce, quotient(a, plan.p), bucket);
  };
  cost.t_g = (training.micro_batches - 1) * buckets * all_reduce(plan.g);
  cost.t_os0 = buckets * all_reduce(plan.dp);
  const double owners = static_cast<double>(plan.os.size()) / s_p;
  cost.t_os1 =
      owners * collective(collectives, CollectiveKind::kBroadcast, quotient(plan.os, plan.p),
                          training.parameter_bytes * phi / plan.os.size());
  return cost;
}

}  // namespace amsp
