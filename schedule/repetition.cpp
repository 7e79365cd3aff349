#include "schedule/repetition.h"

#include <algorithm>
#include <set>

#include "core/error.h"

namespace amsp {

Repetition::Repetition(const TaskGraph& graph)
    : graph_(&graph), position_(static_cast<std::size_t>(graph.size()), -1) {
  int step = -1;
  for (int i = 0; i < graph.size(); ++i) {
    const auto id = static_cast<TaskId>(i);
    const TaskKey& key = graph[id].key;
    if (key.micro_batch < 0) continue;
    if (step >= 0 && key.step != step) return;
    step = key.step;
    if (key.micro_batch >= batches())
      by_batch_.resize(static_cast<std::size_t>(key.micro_batch) + 1);
    auto& tasks = by_batch_[static_cast<std::size_t>(key.micro_batch)];
    position_[index(id)] = static_cast<int>(tasks.size());
    tasks.push_back(id);
  }
  // The longest row of copies.
  int first = 1;
  for (int batch = 1; batch < batches(); ++batch) {
    if (!is_copy(batch)) first = batch + 1;
    if (batch - first > last_ - first_) {
      first_ = first;
      last_ = batch;
    }
  }
  if (!waits_for_the_last_only()) last_ = first_ - 1;
}

bool Repetition::waits_for_the_last_only() const {
  for (int i = 0; i < graph_->size(); ++i) {
    const auto id = static_cast<TaskId>(i);
    if (batch(id) >= 0 && batch(id) <= last_) continue;
    const auto deps = graph_->deps(id);
    const std::set<TaskId> all(deps.begin(), deps.end());
    for (const TaskId dep : deps)
      if (batch(dep) >= first_ && batch(dep) < last_ && !all.contains(in_batch(dep, last_)))
        return false;
  }
  return true;
}

bool Repetition::is_copy(int batch) const {
  const auto& now = tasks(batch);
  const auto& before = tasks(batch - 1);
  if (now.size() != before.size()) return false;
  for (std::size_t i = 0; i < now.size(); ++i) {
    const Task &a = (*graph_)[now[i]], &b = (*graph_)[before[i]];
    TaskKey key = b.key;
    key.micro_batch = batch;
    if (a.key != key || a.stream != b.stream || a.kind != b.kind || a.work != b.work) return false;
    if (!same_dependencies(now[i], before[i])) return false;
  }
  return true;
}

bool Repetition::same_dependencies(TaskId id, TaskId earlier) const {
  const auto one_later = [&](TaskId dep, TaskId earlier_dep) {
    return batch(dep) >= std::max(1, batch(id) - 1) && batch(earlier_dep) == batch(dep) - 1 &&
           position_[index(dep)] == position_[index(earlier_dep)];
  };
  const TaskId previous = graph_->stream_predecessor(id);
  const TaskId earlier_previous = graph_->stream_predecessor(earlier);
  if (previous == TaskId{-1} || earlier_previous == TaskId{-1}) return false;
  const auto deps = graph_->deps(id), earlier_deps = graph_->deps(earlier);
  return one_later(previous, earlier_previous) &&
         std::equal(deps.begin(), deps.end(), earlier_deps.begin(), earlier_deps.end(), one_later);
}

Excerpt::Excerpt(const TaskGraph& graph) {
  tasks_.reserve(static_cast<std::size_t>(graph.size()));
  for (int i = 0; i < graph.size(); ++i) tasks_.push_back(static_cast<TaskId>(i));
}

Excerpt::Excerpt(const TaskGraph& graph, const Repetition& repetition, int from, int to)
    : repetition_(&repetition), from_(from), to_(to) {
  AMSP_CHECK(repetition.first() <= from && from <= to && to <= repetition.last(),
             "micro-batches {} to {} can't be left out: copies are {} to {}", from, to - 1,
             repetition.first(), repetition.last());
  for (int i = 0; i < graph.size(); ++i) {
    const auto id = static_cast<TaskId>(i);
    const int batch = repetition.batch(id);
    if (batch < from || batch >= to) tasks_.push_back(id);
  }
}

TaskId Excerpt::stand_in(TaskId dependency) const {
  if (repetition_ == nullptr) return dependency;
  const int batch = repetition_->batch(dependency);
  if (batch < from_ || batch >= to_) return dependency;
  return batch == to_ - 1 ? repetition_->in_batch(dependency, from_ - 1) : TaskId{-1};
}

}  // namespace amsp
