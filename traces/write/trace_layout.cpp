#include "traces/write/trace_layout.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include "core/error.h"

namespace amsp {
namespace {

constexpr Nanoseconds kLaunch = 1000_ns;  // for the eye: launches are not simulated

struct StepMark {
  TaskId task;
  Nanoseconds time;
};

/// The borders of the window and of the steps inside it.
std::vector<StepMark> step_marks(const Timeline& timeline, Rank rank) {
  const TaskGraph& graph = timeline.graph();
  std::vector<StepMark> marks;
  for (auto i = index(graph.window_begin); i <= index(graph.window_end); ++i) {
    const auto id = static_cast<TaskId>(i);
    if (id == graph.window_begin || id == graph.window_end ||
        (graph[id].kind == WorkKind::kMarker && graph[id].key.op == Op::kStepBegin))
      marks.push_back({id, to_ns(timeline.span(id, rank).end)});
  }
  return marks;
}

/// The kernels are in order of start. From the last to the first, every launch goes as late as it
/// can.
void add_launches(const std::vector<TraceEvent>& kernels, const std::vector<StepMark>& marks,
                  Rank rank, std::vector<Slice>& slices) {
  Nanoseconds next_launch = std::numeric_limits<Nanoseconds>::max();
  for (auto kernel = kernels.rbegin(); kernel != kernels.rend(); ++kernel) {
    Nanoseconds earliest = std::numeric_limits<Nanoseconds>::min();
    for (const StepMark& mark : marks)
      if (mark.time <= kernel->start) earliest = std::max(earliest, mark.time);
    const Nanoseconds end = std::min(kernel->start, next_launch);
    next_launch = std::max(end - kLaunch, earliest);
    slices.push_back(
        {next_launch, end - next_launch, 0_ns, kernel->task, rank, SliceKind::kLaunch});
  }
}

void add_rank(const Timeline& timeline, Rank rank, std::vector<Slice>& slices) {
  const std::vector<StepMark> marks = step_marks(timeline, rank);
  for (std::size_t i = 0; i + 1 < marks.size(); ++i)
    slices.push_back({marks[i].time, marks[i + 1].time - marks[i].time, 0_ns, marks[i].task, rank,
                      SliceKind::kStep});
  std::vector<TraceEvent> kernels = all_events(timeline, rank);
  std::stable_sort(kernels.begin(), kernels.end(),
                   [](const TraceEvent& a, const TraceEvent& b) { return a.start < b.start; });
  for (const TraceEvent& kernel : kernels)
    slices.push_back({kernel.start, kernel.end - kernel.start, kernel.wait, kernel.task, rank,
                      SliceKind::kKernel});
  add_launches(kernels, marks, rank, slices);
}

/// Time 0 is the earliest kernel or step. A launch that would have to be before it is cut.
void move_to_origin(std::vector<Slice>& slices) {
  Nanoseconds origin = std::numeric_limits<Nanoseconds>::max();
  for (const Slice& slice : slices)
    if (slice.kind != SliceKind::kLaunch) origin = std::min(origin, slice.start);
  for (Slice& slice : slices) {
    const Nanoseconds end = std::max(slice.start + slice.duration, origin);
    slice.start = std::max(slice.start, origin) - origin;
    slice.duration = end - origin - slice.start;
  }
}

}  // namespace

std::vector<Slice> lay_out(const Timeline& timeline, const std::vector<Rank>& ranks) {
  std::vector<Slice> slices;
  for (const Rank rank : ranks) add_rank(timeline, rank, slices);
  move_to_origin(slices);
  std::sort(slices.begin(), slices.end(), [](const Slice& a, const Slice& b) {
    return std::tie(a.start, b.duration, a.rank, a.kind, a.task) <
           std::tie(b.start, a.duration, b.rank, b.kind, b.task);
  });
  return slices;
}

}  // namespace amsp
