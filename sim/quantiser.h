#pragma once

#include <set>
#include <vector>

namespace amsp {

/// Small whole numbers for the fractions of one resource: SimGrid loads a link k-fold by listing it
/// k times, so weights are integers, and cost grows with them.
struct Quantised {
  double scale = 1;          // weight / scale is about the fraction
  std::vector<int> weights;  // of the fractions in ascending order; 0: too small to matter
};

/// Largest error of a weight / scale against its fraction.
constexpr double kQuantiseTolerance = 0.01;
/// Fractions below are dropped.
constexpr double kLeastFraction = 0.002;

/// The smallest weights with weight / scale within kQuantiseTolerance of each fraction and, where
/// weights up to 64 allow it, within a quarter of it (many small users of one resource add up). The
/// largest fraction is exact, so nothing is slowed when it runs alone. Fractions are above 0; where
/// the largest is above 1, of a link too slow for an activity, the bounds are relative to it.
Quantised quantise(const std::set<double>& fractions);

}  // namespace amsp
