#include "sim/fold.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "lowering/load_graph.h"
#include "sim/folded_shapes.h"
#include "sim/symmetry.h"

namespace amsp {

namespace {

class Folder {
 public:
  explicit Folder(const Lowering& lowering)
      : lowering_(lowering),
        graph_(lowering.graph()),
        loads_(lowering.load_graph()),
        symmetry_(find_symmetry(lowering)),
        shapes_(lowering, symmetry_) {
    add_lanes();
  }

  Expansion fold() {
    Workload& workload = result_.workload;
    for (int i = 0; i < graph_.size(); ++i) {
      const auto id = static_cast<TaskId>(i);
      const Task& task = graph_[id];
      result_.first_activity.push_back(static_cast<int>(workload.activities.size()));
      for (const Lane& lane : lanes_[static_cast<std::size_t>(task.stream)]) {
        add_activity(task, lane);
        add_predecessors(id, lane);
        workload.first_pred.push_back(workload.preds.size());
      }
    }
    shapes_.fill(workload);
    result_.rank_classes = symmetry_.ranks.count();
    return std::move(result_);
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
      result_.lane_counts.push_back(static_cast<int>(lanes_.back().size()));
      result_.lanes.push_back(std::move(map));
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

  void add_activity(const Task& task, const Lane& lane) {
    double time = 0;
    int shape = -1;
    if (task.kind == WorkKind::kCompute) {
      time = lowering_.compute_time(task, lowering_.owner(lane.members.front())).time.value;
      shape = shapes_.compute(task.work, lane.symmetry_class);
    } else if (task.kind == WorkKind::kCollective) {
      time = lowering_.collective_time(task).time.value;
      shape = shapes_.collective(task.work, lane.symmetry_class);
    }
    result_.workload.activities.push_back({time, shape});
  }

  void add_predecessors(TaskId id, const Lane& lane) {
    std::vector<int>& preds = result_.workload.preds;
    const auto add = [&](TaskId dep, Rank rank) {
      preds.push_back(result_.activity(dep, graph_[dep].stream, rank));
    };
    const TaskId previous = graph_.stream_predecessor(id);
    if (previous != TaskId{-1}) add(previous, lane.members.front());
    for (const TaskId dep : graph_.deps(id)) {
      const std::size_t first = preds.size();
      for (const Rank rank : lane.members) add(dep, rank);
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
  std::vector<std::vector<Lane>> lanes_;  // by stream
  Expansion result_;
};

}  // namespace

Expansion fold(const Lowering& lowering) {
  return Folder(lowering).fold();
}

}  // namespace amsp
