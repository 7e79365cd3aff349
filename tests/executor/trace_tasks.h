#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "core/json/json.h"
#include "topology/spec/cluster_spec.h"
#include "traces/write/chrome_writer.h"

namespace amsp {

using TaskCounts = std::map<std::string, int>;  // by task key

/// How often each task key stands in a rank's Chrome trace.
inline TaskCounts tasks_of(const Timeline& timeline, Rank rank) {
  TaskCounts counts;
  const Json trace = parse_json(chrome_trace(timeline, {rank}, {}), "trace");
  for (const Json& event : trace["traceEvents"]) {
    const auto args = event.find("args");
    if (args == event.end()) continue;
    const auto key = args->find("sk");
    if (key != args->end()) ++counts[key->get<std::string>()];
  }
  return counts;
}

/// Each task starts after its dependencies and the task before it on its stream have ended.
inline void expect_dependencies_respected(const Timeline& timeline, Rank rank) {
  const TaskGraph& graph = timeline.graph();
  for (int i = 0; i < graph.size(); ++i) {
    const auto id = static_cast<TaskId>(i);
    EXPECT_GE(timeline.span(id, rank).start, timeline.ready(id, rank))
        << graph.key(id) << " on rank " << rank;
    EXPECT_GE(timeline.span(id, rank).end, timeline.span(id, rank).start) << graph.key(id);
  }
}

}  // namespace amsp
