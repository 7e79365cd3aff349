#pragma once

#include "traces/timeline/timeline.h"

namespace amsp {

/// Something that runs a task graph: closed form, simulator, executor.
class Engine {
 public:
  virtual ~Engine() = default;
  /// The graph must outlive the timeline.
  virtual Timeline run(const TaskGraph& graph) = 0;
};

}  // namespace amsp
