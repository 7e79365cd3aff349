#include "sim/period.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

namespace amsp {

namespace {

/// Periods that differ by less are the same: relative to one period.
constexpr double kTolerance = 1e-10;

/// The simulated times of an excerpt whose micro-batches are numbered without the gap.
class Played {
 public:
  Played(const TaskGraph& graph, const Repetition& repetition, const Excerpt& excerpt,
         const Expansion& expansion, const ActivityTimes& times)
      : graph_(graph),
        repetition_(repetition),
        excerpt_(excerpt),
        expansion_(expansion),
        times_(times),
        begin_(batches(), std::numeric_limits<double>::infinity()),
        end_(batches(), 0) {
    for (const TaskId id : excerpt.tasks()) {
      const int batch = repetition.batch(id);
      if (batch < 0) continue;
      const auto i = static_cast<std::size_t>(without_gap(batch));
      for (const int activity : activities(id)) {
        begin_[i] = std::min(begin_[i], start(activity));
        end_[i] = std::max(end_[i], end(activity));
      }
    }
  }

  std::size_t batches() const {
    return static_cast<std::size_t>(repetition_.batches() - (excerpt_.to() - excerpt_.from()));
  }
  double begin(int batch) const { return begin_[static_cast<std::size_t>(batch)]; }
  double end_of(int batch) const { return end_[static_cast<std::size_t>(batch)]; }
  int without_gap(int batch) const {
    return batch < excerpt_.from() ? batch : batch - (excerpt_.to() - excerpt_.from());
  }
  int with_gap(int batch) const {
    return batch < excerpt_.from() ? batch : batch + (excerpt_.to() - excerpt_.from());
  }

  bool is_period(int n) const {
    const double period = begin(n) - begin(n - 1);
    return only_neighbours_run(n) && repeats(n, period) && repeats(n - 1, period);
  }

 private:
  std::vector<int> activities(TaskId id) const {
    std::vector<int> result;
    const auto stream = static_cast<std::size_t>(graph_[id].stream);
    const int first = expansion_.first_activity[index(id)];
    for (int lane = 0; lane < expansion_.lane_counts[stream]; ++lane)
      result.push_back(first + lane);
    return result;
  }
  double start(int activity) const { return times_.start_s[static_cast<std::size_t>(activity)]; }
  double end(int activity) const { return times_.end_s[static_cast<std::size_t>(activity)]; }

  /// Micro-batch n is as n - 1 was, one period later.
  bool repeats(int n, double period) const {
    const auto later = [&](double time, double before) {
      return std::abs(time - before - period) <= kTolerance * period;
    };
    const auto& tasks = repetition_.tasks(with_gap(n));
    const auto& before = repetition_.tasks(with_gap(n - 1));
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      const std::vector<int> now = activities(tasks[i]);
      const int offset = expansion_.first_activity[index(before[i])] - now.front();
      for (const int activity : now)
        if (!later(start(activity), start(activity + offset)) ||
            !later(end(activity), end(activity + offset)))
          return false;
    }
    return true;
  }

  /// From the first start of n - 1 to that of n + 1 only n - 2, n - 1 and n run.
  bool only_neighbours_run(int n) const {
    for (int i = 0; i <= n - 3; ++i)
      if (end_of(i) > begin(n - 1)) return false;
    if (end_of(n - 2) > begin(n) || end_of(n - 1) > begin(n + 1)) return false;
    for (int i = n + 2; i < static_cast<int>(batches()); ++i)
      if (begin(i) < begin(n + 1)) return false;
    for (const TaskId id : excerpt_.tasks()) {
      if (repetition_.batch(id) >= 0) continue;
      for (const int activity : activities(id))
        if (end(activity) > begin(n - 1) && start(activity) < begin(n + 1)) return false;
    }
    return true;
  }

  const TaskGraph& graph_;
  const Repetition& repetition_;
  const Excerpt& excerpt_;
  const Expansion& expansion_;
  const ActivityTimes& times_;
  std::vector<double> begin_, end_;  // by micro-batch, without the gap
};

}  // namespace

std::optional<Period> find_period(const TaskGraph& graph, const Repetition& repetition,
                                  const Excerpt& excerpt, const Expansion& expansion,
                                  const ActivityTimes& times) {
  const Played played(graph, repetition, excerpt, expansion, times);
  const int last = played.without_gap(repetition.last());
  for (int n = repetition.first() + 1; n < last; ++n)
    if (played.is_period(n)) return Period{n, played.begin(n) - played.begin(n - 1)};
  return std::nullopt;
}

Timeline make_timeline(const TaskGraph& graph, const Repetition& repetition, const Excerpt& excerpt,
                       const std::optional<Period>& period, const Expansion& expansion,
                       const ActivityTimes& times) {
  const int gap = excerpt.to() - excerpt.from();
  double next_begin = 0;  // of the first micro-batch after the repeated one
  if (period) {
    const Played played(graph, repetition, excerpt, expansion, times);
    next_begin = played.begin(period->batch + 1);
  }
  // Which task's times a task has, and how much later.
  const auto source = [&](TaskId id) -> std::pair<TaskId, double> {
    if (!period) return {id, 0};
    const int batch = repetition.batch(id);
    if (batch < 0) {
      const auto first = static_cast<std::size_t>(expansion.first_activity[index(id)]);
      return {id, times.start_s[first] >= next_begin ? gap * period->seconds : 0};
    }
    if (batch <= period->batch) return {id, 0};
    if (batch <= period->batch + gap)
      return {repetition.in_batch(id, period->batch), (batch - period->batch) * period->seconds};
    const int simulated = batch - gap;  // numbered without the gap
    return {simulated < excerpt.from() ? repetition.in_batch(id, simulated) : id,
            gap * period->seconds};
  };
  Timeline timeline(graph);
  for (int i = 0; i < graph.size(); ++i) {
    const auto id = static_cast<TaskId>(i);
    const auto stream = static_cast<std::size_t>(graph[id].stream);
    const int lanes = expansion.lane_counts[stream];
    const auto [from, later] = source(id);
    timeline.add_task(expansion.lanes[stream], lanes);
    const int first = expansion.first_activity[index(from)];
    for (int lane = 0; lane < lanes; ++lane) {
      const auto activity = static_cast<std::size_t>(first) + static_cast<std::size_t>(lane);
      timeline.lane(id, lane) = {Seconds{times.start_s[activity] + later},
                                 Seconds{times.end_s[activity] + later}};
    }
  }
  return timeline;
}

}  // namespace amsp
