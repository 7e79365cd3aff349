#include "prediction/link_usage.h"

#include <algorithm>
#include <map>

#include "lowering/load_patterns.h"

namespace amsp {

std::vector<LinkUsage> busiest_links(const Lowering& lowering, const ClusterGraph& cluster,
                                     Seconds step_time) {
  const TaskGraph& graph = lowering.graph();
  const int step = graph[graph.window_end].key.step - 1;
  const LoadPatterns patterns(lowering);
  // By pattern: how often the bytes of its example are moved.
  std::vector<double> times(static_cast<std::size_t>(patterns.count()), 0);
  for (const Task& task : graph.tasks()) {
    if (task.kind != WorkKind::kCollective || task.key.step != step) continue;
    const LoadPatterns::Share& share = patterns.share(task.work);
    if (share.pattern >= 0) times[static_cast<std::size_t>(share.pattern)] += share.factor;
  }
  std::vector<double> bytes(static_cast<std::size_t>(cluster.link_count()), 0);
  for (int pattern = 0; pattern < patterns.count(); ++pattern) {
    const auto groups = lowering.groups(patterns.mesh(pattern)).size();
    for (std::size_t group = 0; group < groups; ++group)
      for (const LinkLoad& load : patterns.loads(pattern, static_cast<int>(group)))
        bytes[static_cast<std::size_t>(load.link)] +=
            times[static_cast<std::size_t>(pattern)] * load.bytes;
  }
  std::map<LinkKind, LinkUsage> busiest;
  for (LinkId id = 0; id < cluster.link_count(); ++id) {
    const Link& link = cluster.link(id);
    const double carried = bytes[static_cast<std::size_t>(id)];
    const double utilisation = carried / (link.capacity.value * step_time.value);
    LinkUsage& best = busiest[link.kind];
    if (utilisation > best.utilisation) best = {cluster.link_name(id), carried, utilisation};
  }
  std::vector<LinkUsage> result;
  for (auto& [kind, usage] : busiest)
    if (usage.bytes > 0) result.push_back(std::move(usage));
  std::stable_sort(result.begin(), result.end(), [](const LinkUsage& a, const LinkUsage& b) {
    return a.utilisation > b.utilisation;
  });
  return result;
}

}  // namespace amsp
