#include "schedule/graph_writer.h"

#include <fmt/format.h>

namespace amsp {

GraphWriter::GraphWriter(const ShardingPlan& plan, Communicators communicators, int layers)
    : communicators_(communicators) {
  graph_.dp = plan.dp;
  graph_.owner_mesh = quotient(plan.os, plan.p);
  graph_.layers = layers;
  graph_.add_stream({"compute", SubMesh{}});
}

TaskId GraphWriter::compute(const TaskKey& key, std::int32_t work, std::vector<TaskId> deps) {
  deps.insert(deps.end(), gates_.begin(), gates_.end());
  gates_.clear();
  return last_compute_ = graph_.add({key, kComputeStream, WorkKind::kCompute, work}, deps);
}

TaskId GraphWriter::marker(const TaskKey& key, std::vector<TaskId> deps) {
  deps.insert(deps.end(), gates_.begin(), gates_.end());
  gates_.clear();
  return last_compute_ = graph_.add({key, kComputeStream, WorkKind::kMarker, -1}, deps);
}

StreamId GraphWriter::stream(const SubMesh& mesh, Role role) {
  if (communicators_ == Communicators::kShared) role = Role::kGather;
  const auto [found, added] = streams_.try_emplace({mesh, role}, 0);
  if (added) {
    static constexpr const char* kNames[] = {"gather", "scatter", "reduce", "update"};
    const char* name =
        communicators_ == Communicators::kShared ? "comm" : kNames[static_cast<std::size_t>(role)];
    found->second = graph_.add_stream({fmt::format("{} {}", name, to_string(mesh)), mesh});
  }
  return found->second;
}

}  // namespace amsp
