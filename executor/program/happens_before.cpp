#include "executor/program/happens_before.h"

#include <algorithm>

namespace amsp {

HappensBefore::HappensBefore(const TaskGraph& graph) : streams_(graph.streams().size()) {
  const auto tasks = static_cast<std::size_t>(graph.size());
  stream_.resize(tasks);
  position_.resize(tasks);
  clock_.assign(tasks * streams_, 0);
  std::vector<int> next(streams_, 0);
  for (std::size_t i = 0; i < tasks; ++i) {
    const auto id = static_cast<TaskId>(i);
    stream_[i] = static_cast<std::size_t>(graph[id].stream);
    position_[i] = ++next[stream_[i]];
    int* clock = &clock_[i * streams_];
    const auto after = [&](TaskId dep) {
      const std::size_t j = index(dep);
      for (std::size_t s = 0; s < streams_; ++s)
        clock[s] = std::max(clock[s], clock_[j * streams_ + s]);
      clock[stream_[j]] = std::max(clock[stream_[j]], position_[j]);
    };
    for (const TaskId dep : graph.deps(id)) after(dep);
    if (graph.stream_predecessor(id) != TaskId{-1}) after(graph.stream_predecessor(id));
  }
}

}  // namespace amsp
