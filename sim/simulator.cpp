#include "sim/simulator.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <utility>

#include "core/error.h"
#include "core/quantity.h"
#include "sim/expansion.h"
#include "sim/fluid_player.h"
#include "sim/fold.h"
#include "sim/period.h"

namespace amsp {

namespace {

/// SimGrid's payloads are 64-bit integers of 1e-15 s.
constexpr Seconds kLongestActivity{9000};
/// A period shows after the first micro-batches (the parameter update hides behind them) and
/// before the last (gradients are synchronised beside them).
constexpr int kFewestBatches = 6;
/// About 100 bytes each.
constexpr std::int64_t kMostActivities = 50'000'000;

void check_times(const Lowering& lowering) {
  const TaskGraph& graph = lowering.graph();
  for (int i = 0; i < graph.size(); ++i) {
    const auto id = static_cast<TaskId>(i);
    if (const Seconds time = lowering.slowest(graph[id]); time > kLongestActivity)
      throw ConfigError(fmt::format("{} alone takes {}; at most {} can be simulated", graph.key(id),
                                    format_time(time), format_time(kLongestActivity)));
  }
}

/// Of all ranks, before they are written out.
void check_size(const Lowering& lowering) {
  const TaskGraph& graph = lowering.graph();
  std::int64_t activities = 0;
  for (const Task& task : graph.tasks())
    activities += task.kind == WorkKind::kCollective
                      ? graph.dp.size() / graph.collective(task).call.mesh.size()
                      : graph.dp.size();
  if (activities > kMostActivities)
    throw ConfigError(fmt::format(
        "{} tasks on {} ranks are {:.0f} million activities; at most {:.0f} million can be "
        "simulated: fold the network, or take fewer nodes or micro-batches",
        graph.size(), graph.dp.size(), static_cast<double>(activities) / 1e6,
        static_cast<double>(kMostActivities) / 1e6));
}

/// "s1/mb0/fwd/L3/q/forward (rank 8)": the first rank that the activity stands for.
std::string name_of(int activity, const Expansion& expansion, const TaskGraph& graph) {
  const auto next =
      std::upper_bound(expansion.first_activity.begin(), expansion.first_activity.end(), activity);
  const auto task = next - expansion.first_activity.begin() - 1;
  const auto id = static_cast<TaskId>(task);
  const LaneMap& lanes = *expansion.lanes[static_cast<std::size_t>(graph[id].stream)];
  const int lane = activity - expansion.first_activity[static_cast<std::size_t>(task)];
  return fmt::format("{} ({} {})", graph.key(id),
                     graph[id].kind == WorkKind::kCollective ? "group of rank" : "rank",
                     std::find(lanes.begin(), lanes.end(), lane) - lanes.begin());
}

ActivityTimes play_all(const Expansion& expansion, const TaskGraph& graph) {
  return play(expansion.workload,
              [&](int activity) { return name_of(activity, expansion, graph); });
}

Playback playback(Timeline timeline, const Expansion& expansion, int batches_played) {
  return {std::move(timeline),
          expansion.workload.activities.size(),
          expansion.rank_classes,
          batches_played,
          {}};
}

}  // namespace

/// An excerpt written out, and for every activity whose factor it takes; -1 for communication.
struct Simulator::Attempt {
  Attempt(const Lowering& lowering, const Folding& folding, Excerpt written, int ranks_per_draw)
      : excerpt(std::move(written)), expansion(folding.expand(excerpt)) {
    if (ranks_per_draw == 0) return;
    draws.assign(expansion.workload.activities.size(), -1);
    const TaskGraph& graph = lowering.graph();
    const LaneMap& lanes = *expansion.lanes[kComputeStream];
    std::vector<int> draw_of_lane(static_cast<std::size_t>(expansion.lane_counts[kComputeStream]));
    for (Rank rank = 0; rank < graph.dp.size(); ++rank)
      draw_of_lane[static_cast<std::size_t>(lanes[static_cast<std::size_t>(rank)])] =
          rank / ranks_per_draw;
    for (const TaskId id : excerpt.tasks())
      if (graph[id].kind == WorkKind::kCompute)
        std::copy(draw_of_lane.begin(), draw_of_lane.end(),
                  draws.begin() + expansion.first_activity[index(id)]);
  }

  Excerpt excerpt;
  Expansion expansion;
  std::vector<int> draws;
};

struct Simulator::Folded {
  Folded(const Lowering& lowering, int ranks_per_draw)
      : repetition(lowering.graph()), folding(lowering, ranks_per_draw) {}

  Repetition repetition;
  Folding folding;
  std::map<int, Attempt> attempts;  // by micro-batches played
};

Simulator::Simulator(const Lowering& lowering, int ranks_per_draw)
    : lowering_(lowering), ranks_per_draw_(ranks_per_draw) {
  check_times(lowering);
  folded_ = std::make_unique<Folded>(lowering, ranks_per_draw);
}

Simulator::~Simulator() = default;

Playback Simulator::run(const std::vector<double>& factors) {
  const TaskGraph& graph = lowering_.graph();
  const Repetition& repetition = folded_->repetition;
  const auto attempt = [&](int batches_played, auto... skipped) -> Attempt& {
    const auto found = folded_->attempts.find(batches_played);
    if (found != folded_->attempts.end()) return found->second;
    return folded_->attempts
        .try_emplace(batches_played, lowering_, folded_->folding, Excerpt(graph, skipped...),
                     ranks_per_draw_)
        .first->second;
  };
  const int batches = repetition.batches();
  // Micro-batches from the last copy on are played as they are.
  const int tail = batches - repetition.last();
  for (int played = kFewestBatches; 2 * played <= batches; played *= 2) {
    const int from = played - tail;
    if (from < repetition.first() || repetition.last() < from) break;
    Attempt& some = attempt(played, std::cref(repetition), from, repetition.last());
    const ActivityTimes times = play(some, factors);
    const auto period = find_period(graph, repetition, some.excerpt, some.expansion, times);
    if (period)
      return playback(make_timeline(graph, repetition, some.excerpt, period, some.expansion, times),
                      some.expansion, played);
  }
  Attempt& all = attempt(batches);
  const ActivityTimes times = play(all, factors);
  return playback(make_timeline(graph, repetition, all.excerpt, {}, all.expansion, times),
                  all.expansion, batches);
}

ActivityTimes Simulator::play(Attempt& attempt, const std::vector<double>& factors) const {
  const TaskGraph& graph = lowering_.graph();
  if (factors.empty()) return play_all(attempt.expansion, graph);
  AMSP_CHECK(ranks_per_draw_ > 0, "{} factors for no groups of ranks", factors.size());
  auto& activities = attempt.expansion.workload.activities;
  const auto usual = activities;
  for (std::size_t i = 0; i < activities.size(); ++i)
    if (attempt.draws[i] >= 0)
      activities[i].nominal_s *= factors.at(static_cast<std::size_t>(attempt.draws[i]));
  ActivityTimes times = play_all(attempt.expansion, graph);
  activities = usual;
  return times;
}

Playback simulate(const Lowering& lowering) {
  return Simulator(lowering).run();
}

Playback simulate_every_rank(const Lowering& lowering) {
  check_times(lowering);
  check_size(lowering);
  const TaskGraph& graph = lowering.graph();
  const Repetition repetition(graph);
  const Expansion expansion = expand(lowering);
  return playback(
      make_timeline(graph, repetition, Excerpt(graph), {}, expansion, play_all(expansion, graph)),
      expansion, repetition.batches());
}

}  // namespace amsp
