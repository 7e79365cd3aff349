#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "schedule/task_graph.h"
#include "trace_analysis/analyse.h"

namespace amsp {

/// How long the same work took.
struct Samples {
  std::vector<Nanoseconds> alone;   // nothing else ran on the rank for 95 % of the time or more
  std::vector<Nanoseconds> beside;  // other work did

  /// Median of what ran alone; else the 10th percentile of the rest, which others slowed down.
  Nanoseconds best() const;
  std::size_t size() const { return alone.size() + beside.size(); }
};

/// What a trace says about the tasks of a graph.
struct TaskSamples {
  using GemmShape = std::tuple<std::int64_t, std::int64_t, std::int64_t>;  // m, k, n
  using AttentionShape = std::tuple<int, int, int, int>;                   // seq, batch, heads, d
  using Call = std::tuple<CollectiveKind, SubMesh, std::int64_t>;          // bytes

  using Kernel = std::tuple<MemoryKernel, bool, std::int64_t>;  // backward, bytes

  std::map<GemmShape, Samples> gemms, weight_gemms;
  std::map<Kernel, Samples> memory;
  std::map<AttentionShape, Samples> attention_forward, attention_backward;
  std::map<Call, Samples> calls;  // transfer alone, without waiting for members
  std::int64_t used = 0;          // events
  std::int64_t unknown = 0;       // events that are no task of the graph
};

/// Takes apart the traced events by the tasks of the graph that their keys name, any step.
TaskSamples collect_samples(const TaskGraph& graph, const Analysis& analysis);

}  // namespace amsp
