#pragma once

#include <map>
#include <string>

#include "traces/write/process_groups.h"
#include "traces/write/trace_layout.h"

namespace amsp {

/// The thread of a stream in traces, also args.stream: 7 for compute, as CUDA numbers its default
/// stream, then 20 + stream.
int trace_stream(StreamId stream);

/// How the tasks of a graph look in a trace: the names and arguments that Kineto would give their
/// kernels, and ours beside them (docs/trace-format.md).
class KernelText {
 public:
  /// Keeps references to the graph and the groups.
  KernelText(const TaskGraph& graph, const ProcessGroups& groups);

  /// "gemm q forward L3", "ncclDevKernel_AllGather_RING_LL".
  std::string name(TaskId task) const;
  /// The members of "args", without braces. The correlation of a task is `first_correlation` + its
  /// number.
  std::string args(const Slice& kernel, std::int64_t first_correlation) const;

 private:
  /// `, "deps": [...]`: what the task waited for on other streams, the last of each, by
  /// correlation; through marks, which are no kernels. Empty if there is none.
  std::string dependencies(TaskId task, std::int64_t first_correlation) const;
  void add_dependencies(TaskId task, std::map<StreamId, TaskId>& last) const;
  void add_dependency(TaskId dep, std::map<StreamId, TaskId>& last) const;
  std::string collective_args(const Slice& kernel) const;

  const TaskGraph& graph_;
  const ProcessGroups& groups_;
};

}  // namespace amsp
