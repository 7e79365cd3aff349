#include "sim/quantiser.h"

#include <algorithm>
#include <cmath>

namespace amsp {

namespace {

constexpr int kLargestWeight = 64;

bool close_enough(double fraction, int weight, double scale) {
  if (fraction < kLeastFraction) return true;
  const double error = std::abs(weight / scale - fraction);
  return error <= kQuantiseTolerance && error <= fraction / 4;
}

}  // namespace

Quantised quantise(const std::set<double>& fractions) {
  Quantised result;
  const double largest = *fractions.rbegin();
  for (int top = 1; top <= kLargestWeight; ++top) {
    result.scale = top / largest;
    result.weights.clear();
    bool good = true;
    for (const double fraction : fractions) {
      int weight = static_cast<int>(std::lround(fraction * result.scale));
      if (fraction < kLeastFraction) weight = 0;
      if (fraction >= kLeastFraction && top == kLargestWeight) weight = std::max(weight, 1);
      good = good && close_enough(fraction, weight, result.scale);
      result.weights.push_back(weight);
    }
    if (good) break;
  }
  return result;
}

}  // namespace amsp
