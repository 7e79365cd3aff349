#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/units.h"
#include "executor/interface/kernel_run.h"
#include "schedule/task_graph.h"

namespace amsp {

/// Keeps the kernels of a run of many steps, filed by step and task. Labels are those of Runtime:
/// "s<step>/" and the task's key without its step.
class KernelLog {
 public:
  /// Runs of steps before `first_step` are dropped. The graph is one of one full step (Runtime).
  KernelLog(const TaskGraph& graph, std::int64_t first_step);

  /// Work that isn't of a task of the graph (uploads, downloads of results) is left out.
  void add(const KernelRuns& runs);

  struct Entry {
    const std::string* name;  // the log's
    Nanoseconds start, end;
  };
  /// By task of the graph, in order of start: of the tail of the step before, and of the step.
  std::vector<std::vector<Entry>> window(std::int64_t step) const;

  std::int64_t lost() const { return lost_; }
  std::int64_t without_task() const { return without_task_; }

 private:
  struct Filed {
    std::int32_t task, name;
    Nanoseconds start, end;
  };

  std::size_t begin_, end_;                             // the marks of the window
  std::unordered_map<std::string, std::int32_t> task_;  // in [begin_, end_), by key without step
  std::int64_t first_step_;
  std::map<std::int64_t, std::vector<Filed>> steps_;
  std::unordered_map<std::string, std::int32_t> name_;
  std::vector<const std::string*> names_;  // the keys of name_
  std::int64_t lost_ = 0, without_task_ = 0;
};

}  // namespace amsp
