#include "traces/timeline/timeline.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "core/error.h"

namespace amsp {
namespace {

Seconds latest_end(const Timeline& timeline, TaskId mark) {
  Seconds latest;
  for (Rank rank = 0; rank < timeline.ranks(); ++rank)
    latest = std::max(latest, timeline.span(mark, rank).end);
  return latest;
}

}  // namespace

Timeline::Timeline(const TaskGraph& graph) : graph_(&graph) {
  const auto tasks = static_cast<std::size_t>(graph.size());
  lanes_.reserve(tasks);
  first_span_.reserve(tasks + 1);
}

void Timeline::add_task(std::shared_ptr<const LaneMap> lanes, int lane_count) {
  AMSP_CHECK(lanes_.size() < static_cast<std::size_t>(graph_->size()),
             "all {} tasks have their spans already", graph_->size());
  AMSP_CHECK(lanes != nullptr && lanes->size() == static_cast<std::size_t>(ranks()),
             "the lane map of task {} must cover {} ranks", lanes_.size(), ranks());
  AMSP_CHECK(lane_count > 0, "task {} has no lanes", lanes_.size());
  lanes_.push_back(std::move(lanes));
  first_span_.push_back(first_span_.back() + static_cast<std::size_t>(lane_count));
  spans_.resize(first_span_.back());
}

Span& Timeline::lane(TaskId id, int lane) {
  AMSP_CHECK(lane >= 0 && lane < lane_count(id), "task {} has no lane {}", index(id), lane);
  return spans_[first_span_[index(id)] + static_cast<std::size_t>(lane)];
}

const Span& Timeline::span(TaskId id, Rank rank) const {
  AMSP_CHECK(index(id) < lanes_.size(), "task {} has no spans", index(id));
  AMSP_CHECK(rank >= 0 && rank < ranks(), "there is no rank {}", rank);
  const int lane = (*lanes_[index(id)])[static_cast<std::size_t>(rank)];
  AMSP_CHECK(lane >= 0 && lane < lane_count(id), "task {} has no lane {}", index(id), lane);
  return spans_[first_span_[index(id)] + static_cast<std::size_t>(lane)];
}

int Timeline::lane_count(TaskId id) const {
  AMSP_CHECK(index(id) < lanes_.size(), "task {} has no spans", index(id));
  return static_cast<int>(first_span_[index(id) + 1] - first_span_[index(id)]);
}

std::vector<Rank> Timeline::first_alike() const {
  std::set<const LaneMap*> maps;
  for (const auto& lanes : lanes_) maps.insert(lanes.get());
  std::vector<Rank> first(static_cast<std::size_t>(ranks()), 0);
  // Refined map by map: ranks alike so far and of one lane stay together.
  std::map<std::pair<Rank, int>, Rank> found;
  for (const LaneMap* lanes : maps) {
    found.clear();
    for (Rank rank = 0; rank < ranks(); ++rank) {
      const auto i = static_cast<std::size_t>(rank);
      first[i] = found.try_emplace({first[i], (*lanes)[i]}, rank).first->second;
    }
  }
  return first;
}

Seconds Timeline::ready(TaskId id, Rank rank) const {
  Seconds latest;
  for (const TaskId dep : graph_->deps(id)) latest = std::max(latest, span(dep, rank).end);
  const TaskId previous = graph_->stream_predecessor(id);
  if (previous != TaskId{-1}) latest = std::max(latest, span(previous, rank).end);
  return latest;
}

Seconds Timeline::window_begin(Rank rank) const {
  return span(graph_->window_begin, rank).end;
}

Seconds Timeline::window_end(Rank rank) const {
  return span(graph_->window_end, rank).end;
}

Seconds Timeline::step_time() const {
  return latest_end(*this, graph_->window_end) - latest_end(*this, graph_->window_begin);
}

}  // namespace amsp
