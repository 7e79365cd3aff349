#include "sim/quantiser.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace amsp {
namespace {

TEST(Quantiser, OneFractionNeedsOneUnit) {
  const Quantised result = quantise({0.37});
  EXPECT_EQ(result.weights, std::vector<int>{1});
  EXPECT_DOUBLE_EQ(1 / result.scale, 0.37);
}

TEST(Quantiser, FindsSmallRatios) {
  EXPECT_EQ(quantise({0.3, 0.6, 0.9}).weights, (std::vector<int>{1, 2, 3}));
  EXPECT_EQ(quantise({0.5, 1.0}).weights, (std::vector<int>{1, 2}));
}

TEST(Quantiser, DropsWhatIsTooSmallToMatter) {
  EXPECT_EQ(quantise({0.001, 1.0}).weights, (std::vector<int>{0, 1}));
}

TEST(Quantiser, KeepsEveryShareWithinItsTolerance) {
  std::uint32_t state = 7;
  for (int trial = 0; trial < 500; ++trial) {
    std::set<double> fractions;
    for (int i = 0; i < 1 + trial % 12; ++i) {
      state = state * 1664525 + 1013904223;
      fractions.insert(0.03 + 0.97 * ((state >> 8) % 10000) / 10000.0);
    }
    const Quantised result = quantise(fractions);
    std::size_t i = 0;
    for (const double fraction : fractions) {
      EXPECT_NEAR(result.weights[i] / result.scale, fraction, kQuantiseTolerance);
      EXPECT_LE(result.weights[i] / result.scale, *fractions.rbegin() + 1e-12);
      ++i;
    }
  }
}

}  // namespace
}  // namespace amsp
