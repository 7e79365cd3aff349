#include "sim/fold.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "lowering/load_graph.h"
#include "sim/folded_shapes.h"
#include "sim/symmetry.h"

namespace amsp {

class Folding::Classes {
 public:
  Classes(const Lowering& lowering, int ranks_per_draw)
      : lowering_(lowering),
        graph_(lowering.graph()),
        loads_(lowering.load_graph()),
        symmetry_(find_symmetry(lowering, ranks_per_draw)),
        shapes_(lowering, symmetry_) {
    add_lanes();
  }

  Expansion expand(const Excerpt& excerpt) const {
    Expansion result;
    result.lanes = lane_maps_;
    result.lane_counts = lane_counts_;
    result.rank_classes = symmetry_.ranks.count();
    shapes_.fill(result.workload);
    Workload& workload = result.workload;
    for (const TaskId id : excerpt.tasks()) {
      const Task& task = graph_[id];
      result.first_activity.resize(index(id) + 1, static_cast<int>(workload.activities.size()));
      for (const Lane& lane : lanes_[static_cast<std::size_t>(task.stream)]) {
        workload.activities.push_back(activity(task, lane));
        add_predecessors(excerpt, id, lane, result);
        workload.first_pred.push_back(workload.preds.size());
      }
    }
    return result;
  }

 private:
  /// A class on one stream: of ranks on a stream of one-rank tasks, else of groups.
  struct Lane {
    int symmetry_class;
    std::vector<Rank>
        members;  // one of each class of ranks in it; the first is of the lane's first
  };

  void add_lanes() {
    for (StreamId stream = 0; stream < static_cast<int>(graph_.streams().size()); ++stream) {
      auto map = std::make_shared<LaneMap>(static_cast<std::size_t>(graph_.dp.size()));
      if (stream == kComputeStream) {
        *map = symmetry_.ranks.of;
        auto& lanes = lanes_.emplace_back();
        for (int c = 0; c < symmetry_.ranks.count(); ++c)
          lanes.push_back({c, {symmetry_.ranks.first[static_cast<std::size_t>(c)]}});
      } else {
        const auto mesh = std::find(loads_.meshes().begin(), loads_.meshes().end(),
                                    graph_.streams()[static_cast<std::size_t>(stream)].mesh);
        lanes_.push_back(group_lanes(static_cast<int>(mesh - loads_.meshes().begin()), *map));
      }
      lane_counts_.push_back(static_cast<int>(lanes_.back().size()));
      lane_maps_.push_back(std::move(map));
    }
  }

  std::vector<Lane> group_lanes(int mesh, LaneMap& map) const {
    std::vector<Lane> lanes;
    std::vector<int> lane_of(static_cast<std::size_t>(symmetry_.groups.count()), -1);
    for (int group = loads_.first_group(mesh); group < loads_.group_count(); ++group) {
      if (loads_.mesh_of(group) != mesh) break;
      const int group_class = symmetry_.groups.of[static_cast<std::size_t>(group)];
      int& lane = lane_of[static_cast<std::size_t>(group_class)];
      if (lane < 0) {
        lane = static_cast<int>(lanes.size());
        lanes.push_back({group_class, one_of_each(loads_.members(group))});
      }
      for (const Rank rank : loads_.members(group)) map[static_cast<std::size_t>(rank)] = lane;
    }
    return lanes;
  }

  std::vector<Rank> one_of_each(const std::vector<Rank>& members) const {
    std::vector<Rank> result;
    std::vector<bool> seen(static_cast<std::size_t>(symmetry_.ranks.count()));
    for (const Rank rank : members) {
      const auto rank_class =
          static_cast<std::size_t>(symmetry_.ranks.of[static_cast<std::size_t>(rank)]);
      if (!seen[rank_class]) result.push_back(rank);
      seen[rank_class] = true;
    }
    return result;
  }

  Workload::Activity activity(const Task& task, const Lane& lane) const {
    switch (task.kind) {
      case WorkKind::kCompute:
        return {lowering_.compute_time_on(task, lane.members.front()).value,
                shapes_.compute(task.work, lane.symmetry_class)};
      case WorkKind::kCollective:
        return {lowering_.collective_time(task).time.value,
                shapes_.collective(task.work, lane.symmetry_class)};
      case WorkKind::kMarker:
        break;
    }
    return {0, -1};
  }

  void add_predecessors(const Excerpt& excerpt, TaskId id, const Lane& lane,
                        Expansion& result) const {
    std::vector<int>& preds = result.workload.preds;
    const auto add = [&](TaskId dep, Rank rank) {
      preds.push_back(result.activity(dep, graph_[dep].stream, rank));
    };
    const TaskId previous = graph_.stream_predecessor(id);
    if (previous != TaskId{-1}) add(excerpt.stand_in(previous), lane.members.front());
    for (const TaskId dep : graph_.deps(id)) {
      const std::size_t first = preds.size();
      const TaskId played = excerpt.stand_in(dep);
      if (played == TaskId{-1}) continue;
      for (const Rank rank : lane.members) add(played, rank);
      const auto begin = preds.begin() + static_cast<std::ptrdiff_t>(first);
      std::sort(begin, preds.end());
      preds.erase(std::unique(begin, preds.end()), preds.end());
    }
  }

  const Lowering& lowering_;
  const TaskGraph& graph_;
  const LoadGraph& loads_;
  Symmetry symmetry_;
  FoldedShapes shapes_;
  std::vector<std::vector<Lane>> lanes_;                   // by stream
  std::vector<std::shared_ptr<const LaneMap>> lane_maps_;  // by stream
  std::vector<int> lane_counts_;                           // by stream
};

Folding::Folding(const Lowering& lowering, int ranks_per_draw)
    : classes_(std::make_unique<const Classes>(lowering, ranks_per_draw)) {}

Folding::~Folding() = default;

Expansion Folding::expand(const Excerpt& excerpt) const {
  return classes_->expand(excerpt);
}

Expansion fold(const Lowering& lowering) {
  return Folding(lowering).expand(Excerpt(lowering.graph()));
}

}  // namespace amsp
