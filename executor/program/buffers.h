#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/units.h"
#include "executor/program/happens_before.h"
#include "schedule/task_graph.h"

namespace amsp {

using BufferId = int;

/// What a buffer holds, named as the parts of MemoryEstimate that predict it.
enum class MemoryUse : std::uint8_t {
  kParameters,
  kSecondary,
  kGradients,
  kOptimizer,
  kActivations,
  kLogits,
  kGathered,
  kPending,
  kBuckets,
  kInputs,  // tokens, losses, the gradient norm: in no predicted part
};
constexpr int kMemoryUses = 10;
/// "parameters", "secondary parameters", "gradients", ...
const char* to_string(MemoryUse use);

/// A place in a buffer.
struct Ref {
  BufferId buffer = -1;
  std::int64_t offset = 0;  // bytes

  Ref operator+(std::int64_t bytes) const { return {buffer, offset + bytes}; }
};

/// The buffers of a rank's program, before they have addresses. Persistent buffers live for the
/// whole run. A transient one lives from the first to the last task that touches it.
class BufferTable {
 public:
  explicit BufferTable(const TaskGraph& graph) : graph_(&graph) {}

  BufferId persistent(MemoryUse use, std::int64_t bytes);
  BufferId transient(MemoryUse use, std::int64_t bytes);
  /// `task` reads or writes the buffer. Called in order of task ids.
  void touch(BufferId buffer, TaskId task);

  struct Buffer {
    MemoryUse use;
    std::int64_t bytes;
    bool persistent;
    TaskId first{-1};
    TaskId last{-1};
    std::vector<TaskId> last_on_stream;  // for every stream that touches it
  };
  const std::vector<Buffer>& buffers() const { return buffers_; }

 private:
  const TaskGraph* graph_;
  std::vector<Buffer> buffers_;
};

/// Addresses in one arena. Two transient buffers share bytes only where the graph itself orders
/// all users of one before the first of the other: placing adds no dependency to the schedule, and
/// takes memory where it would need one.
struct MemoryPlan {
  std::vector<std::int64_t> offsets;  // by buffer, multiples of 256
  std::int64_t persistent = 0;        // bytes, the first of the arena
  std::int64_t total = 0;             // bytes of the arena
  /// The most that buffers of this use hold at once, in the order in which tasks are issued.
  std::map<MemoryUse, Bytes> peaks;
};
MemoryPlan plan_memory(const BufferTable& table, const HappensBefore& before);

}  // namespace amsp
