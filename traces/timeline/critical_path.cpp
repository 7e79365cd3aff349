#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "core/error.h"
#include "traces/timeline/analysis.h"

namespace amsp {
namespace {

constexpr TaskId kNothing{-1};

/// A task on a rank, with the end of its span.
struct Visit {
  TaskId task;
  Rank rank;
  Nanoseconds end;
};

/// What held up the others: finished last, ties to the smaller task id, then rank.
bool is_later(const Visit& a, const Visit& b) {
  if (a.end != b.end) return a.end > b.end;
  if (a.task != b.task) return a.task < b.task;
  return a.rank < b.rank;
}

/// Walks from the end of the window to its begin; `cursor_` is the time down to which the path is
/// complete, so that the segments tile the window even where spans overlap.
class PathWalk {
 public:
  explicit PathWalk(const Timeline& timeline)
      : timeline_(timeline), graph_(timeline.graph()), first_alike_(timeline.first_alike()) {}

  std::vector<PathSegment> run() {
    begin_ = latest(graph_.window_begin).end;
    Visit visit = latest(graph_.window_end);
    cursor_ = visit.end;
    while (cursor_ > begin_) {
      take(visit);
      const std::optional<Visit> before = predecessor(visit);
      cover(before ? before->end : begin_, kNothing, visit.rank, "idle");
      if (!before) break;
      visit = *before;
    }
    std::reverse(path_.begin(), path_.end());
    return std::move(path_);
  }

 private:
  Visit at(TaskId task, Rank rank) const {
    return {task, rank, to_ns(timeline_.span(task, rank).end)};
  }

  Visit latest(TaskId mark) const {
    Visit latest = at(mark, 0);
    for (Rank rank = 1; rank < timeline_.ranks(); ++rank)
      if (const Visit visit = at(mark, rank); is_later(visit, latest)) latest = visit;
    return latest;
  }

  void take(const Visit& visit) {
    const Task& task = graph_[visit.task];
    if (task.kind == WorkKind::kMarker) return;
    const std::string traffic = traffic_class(task.key);
    cover(to_ns(timeline_.span(visit.task, visit.rank).start), visit.task, visit.rank,
          traffic.empty() ? "compute" : traffic);
  }

  /// Extends the path down to `start`, but not past the begin of the window.
  void cover(Nanoseconds start, TaskId task, Rank rank, const std::string& kind) {
    start = std::max(start, begin_);
    if (start >= cursor_) return;
    path_.push_back({task, rank, start, cursor_, kind});
    cursor_ = start;
  }

  std::optional<Visit> predecessor(const Visit& visit) {
    std::optional<Visit> latest;
    if (graph_[visit.task].kind == WorkKind::kCollective) {
      for (const Rank member : group(visit)) consider_dependencies(visit.task, member, latest);
    } else {
      consider_dependencies(visit.task, visit.rank, latest);
    }
    return latest;
  }

  void consider_dependencies(TaskId task, Rank rank, std::optional<Visit>& latest) const {
    const auto consider = [&](TaskId dep) {
      const Visit visit = at(dep, rank);
      if (!latest || is_later(visit, *latest)) latest = visit;
    };
    for (const TaskId dep : graph_.deps(task)) consider(dep);
    if (const TaskId previous = graph_.stream_predecessor(task); previous != kNothing)
      consider(previous);
  }

  /// The members of the visit's group, without those that have the spans of an earlier one: a tie
  /// goes to the smaller rank anyway.
  const std::vector<Rank>& group(const Visit& visit) {
    const SubMesh& mesh = graph_.collective(graph_[visit.task]).call.mesh;
    auto found = groups_.find(mesh);
    if (found == groups_.end()) {
      found = groups_.emplace(mesh, process_groups(mesh, graph_.dp)).first;
      for (std::vector<Rank>& members : found->second) drop_repeated(members);
    }
    const int group = group_position(mesh, graph_.dp, visit.rank).group;
    return found->second[static_cast<std::size_t>(group)];
  }

  void drop_repeated(std::vector<Rank>& members) const {
    const auto alike = [&](Rank rank) { return first_alike_[static_cast<std::size_t>(rank)]; };
    std::sort(members.begin(), members.end(),
              [&](Rank a, Rank b) { return std::pair(alike(a), a) < std::pair(alike(b), b); });
    members.erase(std::unique(members.begin(), members.end(),
                              [&](Rank a, Rank b) { return alike(a) == alike(b); }),
                  members.end());
  }

  const Timeline& timeline_;
  const TaskGraph& graph_;
  std::vector<Rank> first_alike_;
  std::map<SubMesh, std::vector<std::vector<Rank>>> groups_;  // of the meshes met
  Nanoseconds begin_;
  Nanoseconds cursor_;
  std::vector<PathSegment> path_;  // latest first
};

}  // namespace

std::vector<PathSegment> critical_path(const Timeline& timeline) {
  return PathWalk(timeline).run();
}

std::map<std::string, Nanoseconds> path_by_kind(const std::vector<PathSegment>& path) {
  std::map<std::string, Nanoseconds> sums;
  for (const PathSegment& segment : path) sums[segment.kind] += segment.end - segment.start;
  return sums;
}

}  // namespace amsp
