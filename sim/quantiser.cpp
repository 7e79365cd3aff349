#include "sim/quantiser.h"

#include <algorithm>
#include <cmath>

namespace amsp {

namespace {

constexpr int kLargestWeight = 64;

/// `unit`: the resource, or the largest fraction where that is more.
bool close_enough(double fraction, int weight, double scale, double unit) {
  if (fraction < kLeastFraction * unit) return true;
  const double error = std::abs(weight / scale - fraction);
  return error <= kQuantiseTolerance * unit && error <= fraction / 4;
}

}  // namespace

Quantised quantise(const std::set<double>& fractions) {
  Quantised result;
  const double largest = *fractions.rbegin();
  const double unit = std::max(1.0, largest);
  for (int top = 1; top <= kLargestWeight; ++top) {
    result.scale = top / largest;
    result.weights.clear();
    bool good = true;
    for (const double fraction : fractions) {
      int weight = static_cast<int>(std::lround(fraction * result.scale));
      if (fraction < kLeastFraction * unit) weight = 0;
      if (fraction >= kLeastFraction * unit && top == kLargestWeight) weight = std::max(weight, 1);
      good = good && close_enough(fraction, weight, result.scale, unit);
      result.weights.push_back(weight);
    }
    if (good) break;
  }
  return result;
}

}  // namespace amsp
