#include "trace_analysis/step_parts.h"

#include <algorithm>
#include <optional>

#include "traces/terms/sweep.h"

namespace amsp {
namespace {

/// A part of a collective: its waiting or its transfer.
struct Piece {
  const Collective* collective;
  bool waiting;
};

template <class Map>
void add_all(Map& sums, const Map& others) {
  for (const auto& [key, share] : others) sums[key] += share;
}

}  // namespace

TrafficShare& TrafficShare::operator+=(const TrafficShare& other) {
  total += other.total;
  waiting += other.waiting;
  exposed_transfer += other.exposed_transfer;
  exposed_wait += other.exposed_wait;
  calls += other.calls;
  known_waits += other.known_waits;
  return *this;
}

StepParts& StepParts::operator+=(const StepParts& other) {
  window += other.window;
  compute += other.compute;
  communication += other.communication;
  overlapped += other.overlapped;
  exposed += other.exposed;
  memory += other.memory;
  memory_only += other.memory_only;
  idle += other.idle;
  compute_sum += other.compute_sum;
  add_all(by_kind, other.by_kind);
  add_all(by_group, other.by_group);
  return *this;
}

StepParts step_parts(const std::vector<RankTrace>& ranks, const Joins& joins, int rank,
                     const StepWindow& window) {
  const RankTrace& trace = ranks[static_cast<std::size_t>(rank)];
  StepParts parts;
  parts.window = window.end - window.begin;

  std::vector<int> inside;
  for (std::size_t i = 0; i < trace.events.size() && trace.events[i].start < window.end; ++i)
    if (trace.events[i].end > window.begin) inside.push_back(static_cast<int>(i));
  // in the order of the task graph, which decides who gets remainders
  if (trace.own_schema)
    std::stable_sort(inside.begin(), inside.end(), [&](int a, int b) {
      return trace.events[static_cast<std::size_t>(a)].correlation <
             trace.events[static_cast<std::size_t>(b)].correlation;
    });

  std::vector<BusyInterval> intervals;
  std::vector<Piece> pieces;
  for (const int i : inside) {
    const GpuEvent& event = trace.events[static_cast<std::size_t>(i)];
    const Nanoseconds from = std::max(event.start, window.begin);
    const Nanoseconds to = std::min(event.end, window.end);
    if (from >= to) continue;
    if (event.activity != Activity::kCommunication) {
      const bool computes = event.activity == Activity::kCompute;
      if (computes) parts.compute_sum += to - from;
      intervals.push_back({from, to, computes ? Busy::kCompute : Busy::kMemory});
      pieces.push_back({nullptr, false});
      continue;
    }
    const std::optional<Nanoseconds> waiting = waiting_time(ranks, joins, rank, i);
    const Nanoseconds joined = std::clamp(event.start + waiting.value_or(0_ns), from, to);
    const Collective* collective = trace.collective(event);
    for (auto* sums : {&parts.by_kind, &parts.by_group}) {
      TrafficShare& share = (*sums)[sums == &parts.by_kind ? collective->kind : collective->group];
      share.total += to - from;
      share.waiting += joined - from;
      ++share.calls;
      share.known_waits += waiting ? 1 : 0;
    }
    intervals.push_back({from, joined, Busy::kCommunication});
    intervals.push_back({joined, to, Busy::kCommunication});
    pieces.push_back({collective, true});
    pieces.push_back({collective, false});
  }

  Nanoseconds busy;
  sweep(intervals, [&](const Stretch& stretch) {
    const Nanoseconds length = stretch.end - stretch.begin;
    const bool communicating = !stretch.communicating.empty();
    busy += length;
    if (stretch.computing) parts.compute += length;
    if (stretch.copying) parts.memory += length;
    if (stretch.copying && !stretch.computing) parts.memory_only += length;
    if (communicating) parts.communication += length;
    if (communicating && stretch.computing) parts.overlapped += length;
    if (!communicating || stretch.computing || stretch.copying) return;
    parts.exposed += length;
    share_out(length, stretch.communicating, [&](int index, Nanoseconds part) {
      const Piece& piece = pieces[static_cast<std::size_t>(index)];
      for (TrafficShare* share :
           {&parts.by_kind[piece.collective->kind], &parts.by_group[piece.collective->group]})
        (piece.waiting ? share->exposed_wait : share->exposed_transfer) += part;
    });
  });
  parts.idle = parts.window - busy;
  return parts;
}

}  // namespace amsp
