#include "trace_analysis/step_windows.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>

namespace amsp {
namespace {

constexpr Nanoseconds kLatest = std::numeric_limits<Nanoseconds>::max();

/// The markers, without those inside another one (the same step seen from a second thread).
std::vector<StepWindow> host_windows(const RankTrace& trace, std::vector<std::string>& excluded) {
  std::vector<StepWindow> steps;
  for (const StepMark& mark : trace.steps) {
    if (!steps.empty() && mark.begin < steps.back().end) {
      excluded.push_back(
          fmt::format("ProfilerStep#{}: overlaps the marker before it", mark.number));
      continue;
    }
    if (mark.begin < mark.end) steps.push_back({mark.number, mark.begin, mark.end});
  }
  return steps;
}

/// The step on whose host interval a time lies, or -1.
int step_at(const std::vector<StepWindow>& steps, Nanoseconds time) {
  const auto after =
      std::upper_bound(steps.begin(), steps.end(), time,
                       [](Nanoseconds t, const StepWindow& step) { return t < step.begin; });
  if (after == steps.begin() || std::prev(after)->end <= time) return -1;
  return static_cast<int>(std::prev(after) - steps.begin());
}

/// First start and last end of the GPU work that each step launched.
std::vector<StepWindow> launched_spans(const RankTrace& trace,
                                       const std::vector<StepWindow>& host) {
  std::vector<StepWindow> spans;
  spans.reserve(host.size());
  for (const StepWindow& step : host) spans.push_back({step.number, kLatest, -kLatest});
  for (const GpuEvent& event : trace.events) {
    const Launch* launch = event.correlation < 0 ? nullptr : trace.launch(event.correlation);
    const int step = launch == nullptr ? -1 : step_at(host, launch->start);
    if (step < 0) continue;
    StepWindow& span = spans[static_cast<std::size_t>(step)];
    span.begin = std::min(span.begin, event.start);
    span.end = std::max(span.end, event.end);
  }
  return spans;
}

bool gpu_keeps_up(const std::vector<StepWindow>& host, const std::vector<StepWindow>& spans) {
  for (std::size_t i = 0; i < host.size(); ++i)
    if (spans[i].end > host[i].end) return false;
  return true;
}

std::vector<StepWindow> gpu_windows(const std::vector<StepWindow>& spans) {
  std::vector<StepWindow> steps;
  for (const StepWindow& span : spans) {
    if (span.begin == kLatest) continue;
    if (!steps.empty()) {
      steps.back().end = std::max(span.begin, steps.back().begin);
    }
    steps.push_back(span);
  }
  std::erase_if(steps, [](const StepWindow& step) { return step.begin >= step.end; });
  return steps;
}

bool has_work(const RankTrace& trace, const StepWindow& step) {
  for (const GpuEvent& event : trace.events) {
    if (event.start >= step.end) return false;
    if (event.end > step.begin && event.end > event.start) return true;
  }
  return false;
}

}  // namespace

RankWindows step_windows(const RankTrace& trace, WindowChoice choice, bool file_incomplete) {
  RankWindows windows;
  std::vector<StepWindow> host = host_windows(trace, windows.excluded);
  if (host.empty()) {
    windows.kind = "all GPU events (no step markers)";
    if (trace.events.empty()) return windows;
    Nanoseconds end = -kLatest;
    for (const GpuEvent& event : trace.events) end = std::max(end, event.end);
    windows.steps.push_back({0, trace.events.front().start, end});
    return windows;
  }
  const std::vector<StepWindow> spans = launched_spans(trace, host);
  const bool any_launched = std::any_of(
      spans.begin(), spans.end(), [](const StepWindow& span) { return span.begin != kLatest; });
  const bool use_gpu =
      choice == WindowChoice::kGpu || (choice == WindowChoice::kAuto && !trace.own_schema &&
                                       any_launched && !gpu_keeps_up(host, spans));
  windows.kind = use_gpu ? "GPU steps" : "host steps";
  windows.steps = use_gpu ? gpu_windows(spans) : host;
  std::erase_if(windows.steps, [&](const StepWindow& step) {
    const bool empty = !has_work(trace, step);
    if (empty)
      windows.excluded.push_back(fmt::format("ProfilerStep#{}: no GPU work in it", step.number));
    return empty;
  });
  if (file_incomplete && windows.steps.size() > 1) {
    windows.excluded.push_back(
        fmt::format("ProfilerStep#{}: the file is incomplete", windows.steps.back().number));
    windows.steps.pop_back();
  }
  return windows;
}

}  // namespace amsp
