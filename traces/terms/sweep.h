#pragma once

#include <algorithm>
#include <set>
#include <vector>

#include "core/units.h"

namespace amsp {

/// What keeps a GPU busy during a half-open interval.
enum class Busy { kCompute, kCommunication, kMemory };
struct BusyInterval {
  Nanoseconds start, end;
  Busy busy;
};

/// What runs at once.
struct Stretch {
  Nanoseconds begin, end;
  bool computing, copying;
  const std::set<int>& communicating;  // indices of the intervals, ascending
};

/// Calls on_stretch(Stretch) for every stretch of time in which the same intervals are open, those
/// in which none is left out, in order of time. Takes O(n log n).
template <class OnStretch>
void sweep(const std::vector<BusyInterval>& intervals, OnStretch on_stretch) {
  struct Edge {
    Nanoseconds time;
    int interval;
    bool opens;
  };
  std::vector<Edge> edges;
  edges.reserve(2 * intervals.size());
  for (std::size_t i = 0; i < intervals.size(); ++i) {
    if (intervals[i].start >= intervals[i].end) continue;
    edges.push_back({intervals[i].start, static_cast<int>(i), true});
    edges.push_back({intervals[i].end, static_cast<int>(i), false});
  }
  std::sort(edges.begin(), edges.end(),
            [](const Edge& a, const Edge& b) { return a.time < b.time; });
  int computing = 0, copying = 0;
  std::set<int> communicating;
  Nanoseconds now;  // nothing is open before the first edge
  for (const Edge& edge : edges) {
    if (edge.time > now && (computing > 0 || copying > 0 || !communicating.empty()))
      on_stretch(Stretch{now, edge.time, computing > 0, copying > 0, communicating});
    now = edge.time;
    switch (intervals[static_cast<std::size_t>(edge.interval)].busy) {
      case Busy::kCompute:
        computing += edge.opens ? 1 : -1;
        break;
      case Busy::kMemory:
        copying += edge.opens ? 1 : -1;
        break;
      case Busy::kCommunication:
        if (edge.opens)
          communicating.insert(edge.interval);
        else
          communicating.erase(edge.interval);
        break;
    }
  }
}

/// Deals `length` out to the members of `sharers` evenly, the remainder to the first:
/// give(index, share).
template <class Give>
void share_out(Nanoseconds length, const std::set<int>& sharers, Give give) {
  const auto count = static_cast<std::int64_t>(sharers.size());
  Nanoseconds share = length / count + Nanoseconds{length.value % count};
  for (const int sharer : sharers) {
    give(sharer, share);
    share = length / count;
  }
}

}  // namespace amsp
