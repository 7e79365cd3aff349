#include "prediction/link_usage.h"

#include <algorithm>
#include <map>

#include "core/without_noise.h"
#include "lowering/load_graph.h"

namespace amsp {

std::vector<LinkUsage> busiest_links(const Lowering& lowering, const ClusterGraph& cluster,
                                     Seconds step_time) {
  const TaskGraph& graph = lowering.graph();
  const int step = graph[graph.window_end].key.step - 1;
  const LoadGraph& loads = lowering.load_graph();
  const LoadPatterns& patterns = loads.patterns();
  // By pattern: how often the bytes of its example are moved.
  std::vector<double> times(static_cast<std::size_t>(patterns.count()), 0);
  for (const Task& task : graph.tasks()) {
    if (task.kind != WorkKind::kCollective || task.key.step != step) continue;
    const LoadPatterns::Share& share = patterns.share(task.work);
    if (share.pattern >= 0) times[static_cast<std::size_t>(share.pattern)] += share.factor;
  }
  std::vector<double> by_label(static_cast<std::size_t>(loads.label_count()), 0);
  for (int label = 0; label < loads.label_count(); ++label)
    for (const auto& [pattern, bytes] : loads.label(label))
      by_label[static_cast<std::size_t>(label)] += times[static_cast<std::size_t>(pattern)] * bytes;
  struct Carried {
    LinkId link = -1;
    double bytes = 0;
    double utilisation = 0;
  };
  std::map<LinkKind, Carried> busiest;
  for (LinkId id = 0; id < cluster.link_count(); ++id) {
    const Link& link = cluster.link(id);
    double carried = 0;
    for (const LoadGraph::Edge& edge : loads.groups_of(id))
      carried += by_label[static_cast<std::size_t>(edge.label)];
    if (carried <= 0) continue;  // a failed link carries nothing
    const double utilisation = carried / (link.available.value * step_time.value);
    Carried& best = busiest[link.kind];
    if (without_noise(utilisation) > without_noise(best.utilisation))
      best = {id, carried, utilisation};
  }
  std::vector<LinkUsage> result;
  for (const auto& [kind, best] : busiest)
    if (best.bytes > 0)
      result.push_back({cluster.link_name(best.link), best.bytes, best.utilisation});
  std::stable_sort(result.begin(), result.end(), [](const LinkUsage& a, const LinkUsage& b) {
    return a.utilisation > b.utilisation;
  });
  return result;
}

}  // namespace amsp
