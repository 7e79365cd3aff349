#include "sim/simulator.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"
#include "sim/expansion.h"
#include "sim/fluid_player.h"

namespace amsp {

Timeline Simulator::run(const TaskGraph& graph) {
  AMSP_CHECK(&graph == &lowering_.graph(), "the lowering is of another graph");
  const Expansion expansion = expand(lowering_);
  const auto name = [&](int activity) {
    const auto next = std::upper_bound(expansion.first_activity.begin(),
                                       expansion.first_activity.end(), activity);
    const auto task = next - expansion.first_activity.begin() - 1;
    const auto id = static_cast<TaskId>(task);
    const bool collective = graph[id].kind == WorkKind::kCollective;
    return fmt::format("{} ({} {})", graph.key(id), collective ? "group" : "rank",
                       activity - expansion.first_activity[static_cast<std::size_t>(task)]);
  };
  activities_ = expansion.workload.activities.size();
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
