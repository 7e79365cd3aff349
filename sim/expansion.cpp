#include "sim/expansion.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

namespace amsp {

namespace {

class Expander {
 public:
  explicit Expander(const Lowering& lowering) : lowering_(lowering), graph_(lowering.graph()) {
    add_lanes();
    Workload& workload = result_.workload;
    for (int resource = 0; resource < lowering.resource_count(); ++resource)
      workload.scales.push_back(lowering.scale(resource));
  }

  Expansion expand() {
    Workload& workload = result_.workload;
    for (int i = 0; i < graph_.size(); ++i) {
      const auto id = static_cast<TaskId>(i);
      const Task& task = graph_[id];
      result_.first_activity.push_back(static_cast<int>(workload.activities.size()));
      const int lanes = result_.lane_counts[static_cast<std::size_t>(task.stream)];
      for (int lane = 0; lane < lanes; ++lane) {
        add_activity(task, lane);
        add_predecessors(id, task, lane);
        workload.first_pred.push_back(workload.preds.size());
      }
    }
    return std::move(result_);
  }

 private:
  bool collective_stream(StreamId stream) const { return stream != kComputeStream; }

  void add_lanes() {
    for (StreamId stream = 0; stream < static_cast<int>(graph_.streams().size()); ++stream) {
      auto map = std::make_shared<LaneMap>(static_cast<std::size_t>(graph_.dp.size()));
      int count = graph_.dp.size();
      std::iota(map->begin(), map->end(), 0);
      if (collective_stream(stream)) {
        const auto& groups = groups_of(stream);
        count = static_cast<int>(groups.size());
        for (int group = 0; group < count; ++group)
          for (const Rank rank : groups[static_cast<std::size_t>(group)])
            (*map)[static_cast<std::size_t>(rank)] = group;
      }
      result_.lanes.push_back(std::move(map));
      result_.lane_counts.push_back(count);
    }
  }

  const std::vector<std::vector<Rank>>& groups_of(StreamId stream) const {
    return lowering_.groups(graph_.streams()[static_cast<std::size_t>(stream)].mesh);
  }

  void add_activity(const Task& task, int lane) {
    double time = 0;
    int shape = -1;
    if (task.kind == WorkKind::kCompute) {
      const int owner = lowering_.owner(lane);
      time = lowering_.compute_time(task, owner).time.value;
      const bool varies = !graph_.compute(task).bytes_by_owner.empty();
      shape = shape_of({0, task.work, varies ? lane : -1 - lane},
                       [&] { return lowering_.compute_uses(task, lane); });
    } else if (task.kind == WorkKind::kCollective) {
      time = lowering_.collective_time(task).time.value;
      shape = shape_of({1, task.work, lane}, [&] { return lowering_.collective_uses(task, lane); });
    }
    result_.workload.activities.push_back({time, shape});
  }

  /// Different works often need the same fractions, so shapes are shared by their uses too.
  template <class MakeUses>
  int shape_of(const std::tuple<int, std::int32_t, int>& key, MakeUses make_uses) {
    const auto [found, added] = shape_by_work_.try_emplace(key, -1);
    if (!added) return found->second;
    std::vector<std::pair<int, int>> uses;
    for (const ResourceUse& use : make_uses()) uses.emplace_back(use.resource, use.weight);
    const auto [same, is_new] =
        shape_by_uses_.try_emplace(uses, static_cast<int>(result_.workload.shapes.size()));
    if (is_new) {
      Workload::Shape shape;
      for (const auto& [resource, weight] : uses) shape.uses.push_back({resource, weight});
      result_.workload.shapes.push_back(std::move(shape));
    }
    return found->second = same->second;
  }

  void add_predecessors(TaskId id, const Task& task, int lane) {
    std::vector<int>& preds = result_.workload.preds;
    const auto add = [&](TaskId dep, Rank rank) {
      preds.push_back(result_.activity(dep, graph_[dep].stream, rank));
    };
    const TaskId previous = graph_.stream_predecessor(id);
    if (!collective_stream(task.stream)) {
      if (previous != TaskId{-1}) add(previous, lane);
      for (const TaskId dep : graph_.deps(id)) add(dep, lane);
      return;
    }
    const auto& members = groups_of(task.stream)[static_cast<std::size_t>(lane)];
    if (previous != TaskId{-1}) add(previous, members.front());
    for (const TaskId dep : graph_.deps(id)) {
      const std::size_t first = preds.size();
      for (const Rank rank : members) add(dep, rank);
      const auto begin = preds.begin() + static_cast<std::ptrdiff_t>(first);
      std::sort(begin, preds.end());
      preds.erase(std::unique(begin, preds.end()), preds.end());
    }
  }

  const Lowering& lowering_;
  const TaskGraph& graph_;
  Expansion result_;
  std::map<std::tuple<int, std::int32_t, int>, int> shape_by_work_;
  std::map<std::vector<std::pair<int, int>>, int> shape_by_uses_;
};

}  // namespace

Expansion expand(const Lowering& lowering) { return Expander(lowering).expand(); }

}  // namespace amsp
