#include "sim/simulator.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"
#include "sim/expansion.h"
#include "sim/fluid_player.h"
#include "sim/fold.h"

namespace amsp {

namespace {

/// "s1/mb0/fwd/L3/q/forward (rank 8)": the first rank that the activity stands for.
std::string name_of(int activity, const Expansion& expansion, const TaskGraph& graph) {
  const auto next = std::upper_bound(expansion.first_activity.begin(),
                                     expansion.first_activity.end(), activity);
  const auto task = next - expansion.first_activity.begin() - 1;
  const auto id = static_cast<TaskId>(task);
  const LaneMap& lanes = *expansion.lanes[static_cast<std::size_t>(graph[id].stream)];
  const int lane = activity - expansion.first_activity[static_cast<std::size_t>(task)];
  return fmt::format("{} ({} {})", graph.key(id),
                     graph[id].kind == WorkKind::kCollective ? "group of rank" : "rank",
                     std::find(lanes.begin(), lanes.end(), lane) - lanes.begin());
}

}  // namespace

Timeline Simulator::run(const TaskGraph& graph) {
  AMSP_CHECK(&graph == &lowering_.graph(), "the lowering is of another graph");
  const Expansion expansion = network_ == Network::kFull ? expand(lowering_) : fold(lowering_);
  const auto name = [&](int activity) { return name_of(activity, expansion, graph); };
  activities_ = expansion.workload.activities.size();
  rank_classes_ = expansion.rank_classes;
  const ActivityTimes times = play(expansion.workload, name);
  Timeline timeline(graph);
  for (int i = 0; i < graph.size(); ++i) {
    const auto id = static_cast<TaskId>(i);
    const auto stream = static_cast<std::size_t>(graph[id].stream);
    const int lanes = expansion.lane_counts[stream];
    timeline.add_task(expansion.lanes[stream], lanes);
    const int first = expansion.first_activity[index(id)];
    for (int lane = 0; lane < lanes; ++lane) {
      const auto activity = static_cast<std::size_t>(first + lane);
      timeline.lane(id, lane) = {Seconds{times.start_s[activity]}, Seconds{times.end_s[activity]}};
    }
  }
  return timeline;
}

}  // namespace amsp
