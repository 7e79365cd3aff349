#pragma once

#include <map>
#include <span>
#include <tuple>
#include <vector>

#include "schedule/task_graph.h"
#include "training/engine_policy.h"
#include "training/plan.h"

namespace amsp {

/// What a communicator is for; with separate communicators each role has its own on a mesh.
enum class Role { kGather, kScatter, kReduce, kUpdate };

/// Appends tasks to a graph: keeps the order of the compute stream, opens one stream per
/// communicator, and shares equal works.
class GraphWriter {
 public:
  GraphWriter(const ShardingPlan& plan, Communicators communicators, int layers);

  TaskGraph& graph() { return graph_; }
  /// The last task on the compute stream, or TaskId{-1}.
  TaskId last_compute() const { return last_compute_; }
  /// The next compute task waits for `task` as well.
  void gate_compute(TaskId task) { gates_.push_back(task); }
  /// What the next compute task waits for beyond its own dependencies.
  const std::vector<TaskId>& gates() const { return gates_; }

  /// `work` is an index from TaskGraph::add_work.
  TaskId compute(const TaskKey& key, std::int32_t work, std::vector<TaskId> deps);
  TaskId marker(const TaskKey& key, std::vector<TaskId> deps);
  /// Works are shared by (kind, mesh, key of the message). `message` is only called for a new one.
  template <class MakeWork>
  TaskId collective(const TaskKey& key, Role role, const SubMesh& mesh, CollectiveKind kind,
                    int message_id, MakeWork make_work, std::span<const TaskId> deps) {
    const auto work_key = std::tuple(kind, mesh, message_id);
    auto found = works_.find(work_key);
    if (found == works_.end()) {
      CollectiveWork work = make_work();
      work.call.kind = kind;
      work.call.mesh = mesh;
      found = works_.emplace(work_key, graph_.add_work(std::move(work))).first;
    }
    return graph_.add({key, stream(mesh, role), WorkKind::kCollective, found->second}, deps);
  }

 private:
  StreamId stream(const SubMesh& mesh, Role role);

  TaskGraph graph_;
  Communicators communicators_;
  TaskId last_compute_{-1};
  std::vector<TaskId> gates_;
  std::map<std::pair<SubMesh, Role>, StreamId> streams_;
  std::map<std::tuple<CollectiveKind, SubMesh, int>, std::int32_t> works_;
};

}  // namespace amsp
