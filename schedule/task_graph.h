#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/units.h"
#include "schedule/compute_work.h"
#include "schedule/task_key.h"
#include "topology/collective/collective.h"

namespace amsp {

enum class TaskId : std::int32_t {};
constexpr std::size_t index(TaskId id) {
  return static_cast<std::size_t>(id);
}
using StreamId = int;
constexpr StreamId kComputeStream = 0;

enum class WorkKind : std::uint8_t { kCompute, kCollective, kMarker };

/// One task of a rank's program. Works are shared between tasks that do the same.
struct Task {
  TaskKey key;
  StreamId stream = kComputeStream;
  WorkKind kind = WorkKind::kMarker;
  std::int32_t work = -1;  // index into compute_works() or collective_works()
};

/// What a collective moves, beside the call itself.
struct CollectiveWork {
  CollectiveCall call;
  int element_bytes = 2;
  std::vector<TensorId> tensors;  // in message order; empty for the gradient norm
};

/// Operations of one stream run in the order in which they were added.
struct StreamSpec {
  std::string name;  // "compute", "gather 4x1", "sync 2x8/4x1"
  SubMesh mesh;      // of its communicator; 1x1 for compute
};

/// One training step as the program of one rank (SPMD): what runs, where, and what must finish
/// first; never how long. The schedule builder makes it once; the cost model, the simulator and
/// the executor only read it. What differs between ranks are `bytes_by_owner` and
/// `bytes_by_root`, by position in the os/p group.
///
/// A collective starts when all members of its group have met its dependencies.
///
/// The graph covers a window: the tail of a step (optimizer, parameter update), then
/// `full_steps` whole steps. Step time = end of mark `window_end` - end of mark `window_begin`.
///
/// Invariant: a task depends only on tasks added before it. So the graph has no cycle, and the
/// order of insertion is a valid order of execution.
class TaskGraph {
 public:
  StreamId add_stream(StreamSpec stream);
  std::int32_t add_work(ComputeWork work);
  std::int32_t add_work(CollectiveWork work);
  TaskId add(Task task, std::span<const TaskId> deps);

  int size() const { return static_cast<int>(tasks_.size()); }
  const Task& operator[](TaskId id) const { return tasks_[index(id)]; }
  const std::vector<Task>& tasks() const { return tasks_; }
  /// Without the order of streams, duplicates or the task's stream predecessor.
  std::span<const TaskId> deps(TaskId id) const {
    return {deps_.data() + first_dep_[index(id)], deps_.data() + first_dep_[index(id) + 1]};
  }
  /// The task before this one on its stream, or TaskId{-1}.
  TaskId stream_predecessor(TaskId id) const { return previous_[index(id)]; }
  const std::vector<StreamSpec>& streams() const { return streams_; }
  const ComputeWork& compute(const Task& task) const;
  const CollectiveWork& collective(const Task& task) const;
  const std::vector<ComputeWork>& compute_works() const { return computes_; }
  const std::vector<CollectiveWork>& collective_works() const { return collectives_; }
  /// "s1/mb0/fwd/L3/q/forward", see TaskKey.
  std::string key(TaskId id) const;

  Mesh dp;             // all ranks
  SubMesh owner_mesh;  // os/p: its positions index bytes_by_owner and bytes_by_root
  int layers = 0;      // L, for keys
  TaskId window_begin{-1};
  TaskId window_end{-1};

 private:
  std::vector<Task> tasks_;
  std::vector<TaskId> deps_;                  // every task's dependencies, back to back
  std::vector<std::size_t> first_dep_ = {0};  // task i owns deps_[first_dep_[i], first_dep_[i+1])
  std::vector<TaskId> last_user_;             // the last task that named this one as a dependency
  std::vector<TaskId> previous_;
  std::vector<TaskId> last_on_stream_;
  std::vector<StreamSpec> streams_;
  std::vector<ComputeWork> computes_;
  std::vector<CollectiveWork> collectives_;
};

}  // namespace amsp
