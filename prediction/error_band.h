#pragma once

#include "core/units.h"
#include "lowering/lowering.h"
#include "traces/timeline/analysis.h"

namespace amsp {

/// Where the real step time lies with a chance of 80 %, one tenth on either side.
struct ErrorBand {
  Seconds low, high;
};

/// With s the step, c_i a kernel's share of it (all tasks of one work), x that of exposed and h
/// that of hidden communication on the rank:
///   d^2  = sum_i (c_i d_i)^2 + kMachine^2 + (kCommunication x)^2
///   low  = s (1 - 1.28 d)
///   high = s (1 + 1.28 d + kLeftOut + kHidden h)
/// d_i by where the kernel's time comes from. docs/fidelity.md says where the constants do, and how
/// many measured runs lie inside. Nothing is known of a chip without measured kernels: there d_i is
/// a guess.
ErrorBand error_band(const Lowering& lowering, Rank rank, const RankBreakdown& breakdown,
                     Seconds step);

/// What is left to tell plans on one machine apart, whose kernels err alike and for whom a second
/// of hidden communication costs the same, from nothing to kHidden more than we say:
///   s (1 + k h) (1 -+ 1.28 kCommunication x) at k = 0 and at k = kHidden
struct PlanBand {
  ErrorBand least, most;

  /// Whether there is a k at which `other` may be as fast.
  bool ties_with(const PlanBand& other) const {
    return other.least.low <= least.high || other.most.low <= most.high;
  }
};
PlanBand band_among_plans(const RankBreakdown& breakdown, Seconds step);

}  // namespace amsp
