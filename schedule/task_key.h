#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "topology/spec/mesh.h"
#include "training/model.h"

namespace amsp {

enum class Phase : std::uint8_t {
  kForward,
  kRecompute,
  kBackward,
  kGradSync,
  kOptimizer,
  kUpdate,
  kMark
};
/// "fwd", "recompute", "bwd", "grad_sync", "opt", "update", "mark".
const char* to_string(Phase phase);

enum class Op : std::uint8_t {
  kForward,
  kBackward,  // all of a module's backward in one kernel
  kWgrad,
  kDgrad,
  kAllGather,
  kReduceScatter,
  kAllReduce,
  kBroadcast,
  kNorm,       // local part of the global gradient norm
  kStep,       // optimizer
  kStepBegin,  // marker: the first forward may start
};
/// "forward", "backward", "wgrad", ..., "step", "step_begin".
const char* to_string(Op op);

/// Names one task of the step program; the same in simulator, executor, traces and diff.
/// Grammar (one line, no blanks):
///   s<step>/mb<micro-batch>|-/<phase>/emb|L<layer>|head|-/<module>|bucket<i>|params|-/<op>[@<mesh>]
/// such as "s1/mb0/fwd/L3/q/forward", "s1/mb0/bwd/L3/q/reduce_scatter@4x1",
/// "s1/mb0/grad_sync/-/bucket2/all_reduce@2x8/4x1", "s0/-/update/L3/params/broadcast@8x1".
/// Layers count from 0 (block 1). Unique within a graph.
struct TaskKey {
  int step = 0;
  int micro_batch = -1;  // -1: not of a micro-batch
  Phase phase = Phase::kForward;
  int block = -1;  // 0 embedding, 1..L layers, L+1 head, -1 none
  Module module = Module::kNone;
  int bucket = -1;  // of gradients; -1 none
  Op op = Op::kForward;

  bool operator==(const TaskKey&) const = default;
};

/// `layers` is L, to tell the head; `mesh` is appended for collectives.
std::string to_string(const TaskKey& key, int layers, const SubMesh* mesh = nullptr);

/// The parts of a key as text, for readers of traces. std::nullopt if it isn't of the grammar.
struct TaskKeyText {
  int step;
  int micro_batch;  // -1 for '-'
  std::string phase, layer, module, op, mesh;
};
std::optional<TaskKeyText> parse_task_key(std::string_view text);

}  // namespace amsp
