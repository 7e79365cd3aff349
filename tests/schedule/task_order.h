#pragma once

#include <map>
#include <string>
#include <vector>

#include "schedule/task_graph.h"

namespace amsp {

inline std::map<std::string, TaskId> by_key(const TaskGraph& graph) {
  std::map<std::string, TaskId> keys;
  for (int i = 0; i < graph.size(); ++i) keys.emplace(graph.key(static_cast<TaskId>(i)), TaskId(i));
  return keys;
}

/// True if `before` must end before `after` starts on a rank, by any chain of dependencies.
inline bool must_precede(const TaskGraph& graph, TaskId before, TaskId after) {
  std::vector<bool> reached(static_cast<std::size_t>(graph.size()), false);
  reached[index(before)] = true;
  for (int i = static_cast<int>(index(before)) + 1; i <= static_cast<int>(index(after)); ++i) {
    const auto id = static_cast<TaskId>(i);
    const TaskId previous = graph.stream_predecessor(id);
    bool follows = previous != TaskId{-1} && reached[index(previous)];
    for (const TaskId dep : graph.deps(id)) follows = follows || reached[index(dep)];
    reached[index(id)] = follows;
  }
  return reached[index(after)];
}

}  // namespace amsp
