#include "executor/run/kernel_log.h"

#include <algorithm>
#include <charconv>
#include <tuple>

namespace amsp {

KernelLog::KernelLog(const TaskGraph& graph, std::int64_t first_step)
    : begin_(index(graph.window_begin)), end_(index(graph.window_end)), first_step_(first_step) {
  for (std::size_t i = begin_; i < end_; ++i) {
    const std::string key = graph.key(static_cast<TaskId>(i));
    task_.emplace(key.substr(key.find('/')), static_cast<std::int32_t>(i));
  }
}

void KernelLog::add(const KernelRuns& runs) {
  lost_ += runs.lost;
  without_task_ += runs.without_task;
  for (const KernelRun& run : runs.runs) {
    const std::size_t slash = run.task.find('/');
    if (!run.task.starts_with('s') || slash == std::string::npos) continue;
    std::int64_t step = 0;
    const auto [rest, error] = std::from_chars(run.task.data() + 1, run.task.data() + slash, step);
    if (error != std::errc() || rest != run.task.data() + slash || step < first_step_) continue;
    const auto task = task_.find(run.task.substr(slash));
    if (task == task_.end()) continue;
    const auto [name, is_new] =
        name_.try_emplace(run.name, static_cast<std::int32_t>(names_.size()));
    if (is_new) names_.push_back(&name->first);
    steps_[step].push_back({task->second, name->second, {run.start_ns}, {run.end_ns}});
  }
}

std::vector<std::vector<KernelLog::Entry>> KernelLog::window(std::int64_t step) const {
  std::vector<std::vector<Entry>> tasks(end_ + 1);
  const auto file = [&](std::int64_t of_step, std::size_t first, std::size_t shift) {
    const auto found = steps_.find(of_step);
    if (found == steps_.end()) return;
    for (const Filed& run : found->second)
      if (const auto task = static_cast<std::size_t>(run.task); task >= first && task < end_)
        tasks[task - shift].push_back(
            {names_[static_cast<std::size_t>(run.name)], run.start, run.end});
  };
  // The tail is the last tasks of the step before: those that end the window end it as well.
  file(step - 1, end_ - begin_, end_ - begin_);
  file(step, begin_, 0);
  for (auto& of_task : tasks)
    std::stable_sort(of_task.begin(), of_task.end(), [](const Entry& a, const Entry& b) {
      return std::tie(a.start, a.end) < std::tie(b.start, b.end);
    });
  return tasks;
}

}  // namespace amsp
