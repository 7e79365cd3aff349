#include "traces/write/process_groups.h"

#include <fmt/format.h>

#include <numeric>
#include <set>

#include "core/error.h"

namespace amsp {
namespace {

constexpr std::size_t kKinetoListLimit = 30;  // kTruncatLength in PyTorch's profiler/util.h

}  // namespace

ProcessGroups::ProcessGroups(const TaskGraph& graph)
    : graph_(graph), sequence_(static_cast<std::size_t>(graph.size())) {
  std::vector<Rank> world(static_cast<std::size_t>(graph.dp.size()));
  std::iota(world.begin(), world.end(), 0);
  groups_.push_back({0, "default_pg", std::move(world)});
  for (std::size_t id = 0; id < graph.streams().size(); ++id) {
    first_group_.push_back(groups_.size());
    if (id == kComputeStream) continue;
    const StreamSpec& stream = graph.streams()[id];
    for (std::vector<Rank>& ranks : process_groups(stream.mesh, graph.dp))
      groups_.push_back({static_cast<std::int64_t>(groups_.size()), stream.name, std::move(ranks)});
  }
  std::vector<int> issued(graph.streams().size());
  for (int i = 0; i < graph.size(); ++i) {
    const Task& task = graph[TaskId{i}];
    if (task.kind != WorkKind::kCollective) continue;
    const StreamSpec& stream = graph.streams()[static_cast<std::size_t>(task.stream)];
    AMSP_CHECK(task.stream != kComputeStream && graph.collective(task).call.mesh == stream.mesh,
               "the mesh of '{}' is not that of its stream '{}'", graph.key(TaskId{i}),
               stream.name);
    sequence_[static_cast<std::size_t>(i)] = ++issued[static_cast<std::size_t>(task.stream)];
  }
}

const ProcessGroup& ProcessGroups::group(const StreamSpec& stream, std::size_t id,
                                         Rank rank) const {
  const int group = group_position(stream.mesh, graph_.dp, rank).group;
  return groups_[first_group_[id] + static_cast<std::size_t>(group)];
}

const ProcessGroup& ProcessGroups::group(TaskId collective, Rank rank) const {
  const auto id = static_cast<std::size_t>(graph_[collective].stream);
  return group(graph_.streams()[id], id, rank);
}

std::vector<const ProcessGroup*> ProcessGroups::groups(const std::vector<Rank>& ranks) const {
  std::set<std::int64_t> numbers = {0};
  for (std::size_t id = 0; id < graph_.streams().size(); ++id)
    if (id != kComputeStream)
      for (const Rank rank : ranks) numbers.insert(group(graph_.streams()[id], id, rank).number);
  std::vector<const ProcessGroup*> result;
  result.reserve(numbers.size());
  for (const std::int64_t number : numbers)
    result.push_back(&groups_[static_cast<std::size_t>(number)]);
  return result;
}

std::string kineto_list(const std::vector<Rank>& ranks) {
  if (ranks.size() <= kKinetoListLimit) return fmt::format("[{}]", fmt::join(ranks, ", "));
  const auto cut = ranks.begin() + static_cast<std::ptrdiff_t>(kKinetoListLimit);
  return fmt::format("[{}, ...]", fmt::join(ranks.begin(), cut, ", "));
}

}  // namespace amsp
