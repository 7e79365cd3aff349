#pragma once

#include <map>
#include <string>

#include "trace_analysis/joins.h"
#include "trace_analysis/step_windows.h"

namespace amsp {

/// Of one kind or group of communication, inside a window.
struct TrafficShare {
  Nanoseconds total;             // sum of durations
  Nanoseconds waiting;           // of that, waiting for late members, as far as known
  Nanoseconds exposed_transfer;  // the shares add up to StepParts::exposed exactly
  Nanoseconds exposed_wait;
  int calls = 0;
  int known_waits = 0;  // of them; waits of the others are unknown and count as transfer

  Nanoseconds exposed() const { return exposed_transfer + exposed_wait; }
  bool operator==(const TrafficShare&) const = default;
  TrafficShare& operator+=(const TrafficShare& other);
};

/// One rank's step, in half-open intervals of integer nanoseconds:
///   compute + exposed + memory_only + idle = window exactly.
/// Computing hides copies, and both hide communication: exposed is communication without either.
/// Every exposed nanosecond goes to the one active operation, or evenly to several.
struct StepParts {
  Nanoseconds window;
  Nanoseconds compute;        // union
  Nanoseconds communication;  // union
  Nanoseconds overlapped;     // communication beside compute
  Nanoseconds exposed;
  Nanoseconds memory;       // union of copies
  Nanoseconds memory_only;  // copies without compute
  Nanoseconds idle;
  Nanoseconds compute_sum;  // sum of durations: more than the union where kernels overlap
  std::map<std::string, TrafficShare> by_kind, by_group;

  /// Communication that no compute hides, copies beside it or not.
  Nanoseconds without_compute() const { return communication - overlapped; }
  bool operator==(const StepParts&) const = default;
  StepParts& operator+=(const StepParts& other);
};

/// What runs inside the window on rank number `rank` of `ranks`, clipped to it. O(n log n).
StepParts step_parts(const std::vector<RankTrace>& ranks, const Joins& joins, int rank,
                     const StepWindow& window);

}  // namespace amsp
