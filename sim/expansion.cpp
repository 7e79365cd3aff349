#include "sim/expansion.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

#include "core/without_noise.h"
#include "sim/quantiser.h"

namespace amsp {

namespace {

class Expander {
 public:
  explicit Expander(const Lowering& lowering) : lowering_(lowering), graph_(lowering.graph()) {
    add_lanes();
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
    quantise_shapes();
    result_.rank_classes = graph_.dp.size();
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
      time = lowering_.compute_time_on(task, lane).value;
      shape = shape_of({0, task.work, lane}, [&] { return lowering_.compute_uses(task, lane); });
    } else if (task.kind == WorkKind::kCollective) {
      time = lowering_.collective_time(task).time.value;
      shape = shape_of({1, task.work, lane}, [&] { return lowering_.collective_uses(task, lane); });
    }
    result_.workload.activities.push_back({time, shape});
  }

  template <class MakeUses>
  int shape_of(const std::tuple<int, std::int32_t, int>& key, MakeUses make_uses) {
    const auto [found, added] = shape_by_work_.try_emplace(key, static_cast<int>(uses_.size()));
    if (added) {
      uses_.push_back(make_uses());
      for (ResourceUse& use : uses_.back()) use.fraction = without_noise(use.fraction);
    }
    return found->second;
  }

  /// Weights depend on all fractions of a resource, so they come last. Works whose fractions round
  /// to the same weights then share a shape.
  void quantise_shapes() {
    Workload& workload = result_.workload;
    std::vector<std::set<double>> fractions(static_cast<std::size_t>(lowering_.resource_count()));
    for (const auto& uses : uses_)
      for (const ResourceUse& use : uses)
        fractions[static_cast<std::size_t>(use.resource)].insert(use.fraction);
    std::map<std::set<double>, Quantised> known;
    std::vector<const Quantised*> quantised;
    for (const auto& set : fractions) {
      auto found = known.find(set);
      if (found == known.end())
        found = known.emplace(set, set.empty() ? Quantised{} : quantise(set)).first;
      quantised.push_back(&found->second);
      workload.scales.push_back(found->second.scale);
    }
    std::map<std::vector<Workload::Use>, int> shapes;
    std::vector<int> renamed;
    for (const auto& uses : uses_) {
      std::vector<Workload::Use> rounded;
      for (const ResourceUse& use : uses) {
        const auto resource = static_cast<std::size_t>(use.resource);
        const auto at =
            std::distance(fractions[resource].begin(), fractions[resource].find(use.fraction));
        const int weight = quantised[resource]->weights[static_cast<std::size_t>(at)];
        if (weight > 0) rounded.push_back({use.resource, weight});
      }
      const auto [same, is_new] =
          shapes.try_emplace(rounded, static_cast<int>(workload.shapes.size()));
      if (is_new) workload.shapes.push_back({std::move(rounded)});
      renamed.push_back(same->second);
    }
    for (Workload::Activity& activity : workload.activities)
      if (activity.shape >= 0) activity.shape = renamed[static_cast<std::size_t>(activity.shape)];
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
  std::vector<std::vector<ResourceUse>> uses_;  // by shape, before rounding
};

}  // namespace

Expansion expand(const Lowering& lowering) {
  return Expander(lowering).expand();
}

}  // namespace amsp
