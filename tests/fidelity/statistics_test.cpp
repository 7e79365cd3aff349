#include "fidelity/statistics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/statistics.h"

namespace amsp {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::Optional;

TEST(Statistics, MedianOfAnEvenNumberIsTheMeanOfTheMiddleTwo) {
  EXPECT_EQ(median({3, 1, 2}), 2);
  EXPECT_EQ(median({4, 1, 2, 3}), 2.5);
}

TEST(Statistics, QuantileIsTheSmallestValueThatThePartDoesNotExceed) {
  EXPECT_EQ(quantile(std::vector<double>{10, 9, 8, 7, 6, 5, 4, 3, 2, 1}, 0.9), 9);
  EXPECT_EQ(quantile(std::vector<double>{1, 2, 3}, 0.9), 3);
  EXPECT_EQ(quantile(std::vector<double>{5}, 0.9), 5);
}

TEST(Statistics, RankCorrelationSeesOrderOnly) {
  EXPECT_THAT(rank_correlation({1, 2, 3, 4}, {1, 10, 100, 1000}), Optional(DoubleNear(1, 1e-12)));
  EXPECT_THAT(rank_correlation({1, 2, 3, 4}, {9, 8, 7, 6}), Optional(DoubleNear(-1, 1e-12)));
}

// Ranks 0, 1.5, 1.5, 3 and 0, 1, 2, 3, less their mean of 1.5: -1.5, 0, 0, 1.5 and -1.5, -0.5, 0.5,
// 1.5; the product is 4.5, the squares are 4.5 and 5.
TEST(Statistics, RankCorrelationOfTies) {
  EXPECT_THAT(rank_correlation({1, 2, 2, 3}, {1, 2, 3, 4}),
              Optional(DoubleNear(4.5 / std::sqrt(4.5 * 5), 1e-12)));
}

TEST(Statistics, NoRankCorrelationOfTwoPairsOrOfAConstant) {
  EXPECT_EQ(rank_correlation({1, 2}, {1, 2}), std::nullopt);
  EXPECT_EQ(rank_correlation({1, 1, 1}, {1, 2, 3}), std::nullopt);
}

TEST(Statistics, SlopesHoldTheOthers) {
  // y = 7 + 2 a - 3 b; a and b go together but for the last row
  const std::vector<double> a = {0, 1, 2, 3, 0}, b = {0, 1, 2, 3, 1};
  std::vector<double> y;
  for (std::size_t i = 0; i < a.size(); ++i) y.push_back(7 + 2 * a[i] - 3 * b[i]);
  EXPECT_THAT(least_squares_slopes(y, {a, b}, 1),
              ElementsAre(Optional(DoubleNear(2, 1e-12)), Optional(DoubleNear(-3, 1e-12))));
}

// Through (0, 1), (1, 2), (2, 6): the slope is ((-1)(-2) + (1)(3)) / 2 = 2.5.
TEST(Statistics, SlopeOfLeastSquares) {
  EXPECT_THAT(least_squares_slopes({1, 2, 6}, {{0, 1, 2}}, 1),
              ElementsAre(Optional(DoubleNear(2.5, 1e-12))));
}

TEST(Statistics, NoSlopeOfWhatHardlyVariesOrGoesWithAnother) {
  const std::vector<double> y = {1, 2, 4, 8, 16}, a = {0, 1, 2, 3, 4}, twice_a = {0, 2, 4, 6, 8};
  EXPECT_THAT(least_squares_slopes(y, {a, twice_a}, 1), ElementsAre(std::nullopt, std::nullopt));
  const auto slopes = least_squares_slopes(y, {a, {0, 0.9, 0, 0.9, 0}}, 1);
  EXPECT_THAT(slopes, ElementsAre(Optional(DoubleNear(3.6, 1e-12)), std::nullopt));
}

TEST(Statistics, NoSlopesOfAsManyRowsAsUnknowns) {
  EXPECT_THAT(least_squares_slopes({1, 2}, {{0, 1}}, 1), ElementsAre(std::nullopt));
}

TEST(Statistics, OfErrors) {
  const ErrorStatistics all = error_statistics({0.1, -0.2, 0.3}, {false, false, false});
  EXPECT_EQ(all.rows, 3U);
  EXPECT_DOUBLE_EQ(all.median, 0.2);
  EXPECT_DOUBLE_EQ(all.mean, 0.2);
  EXPECT_DOUBLE_EQ(all.p90, 0.3);
  EXPECT_NEAR(all.bias_mean, 0.2 / 3, 1e-15);
  EXPECT_DOUBLE_EQ(all.bias_median, 0.1);
  EXPECT_DOUBLE_EQ(all.worst, 0.3);
  EXPECT_EQ(all.worst_row, 2U);
}

TEST(Statistics, ADoubtfulRowIsNotTheWorst) {
  const ErrorStatistics some = error_statistics({0.1, -0.2, 0.3}, {false, false, true});
  EXPECT_DOUBLE_EQ(some.mean, 0.2);
  EXPECT_DOUBLE_EQ(some.worst, -0.2);
  EXPECT_EQ(some.worst_row, 1U);
  EXPECT_DOUBLE_EQ(error_statistics({0.3}, {true}).worst, 0.3);
}

}  // namespace
}  // namespace amsp
