#include "fidelity/compare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/fidelity/made_up.h"

namespace amsp {
namespace {

using ::testing::DoubleNear;
using ::testing::Optional;
using ::testing::StartsWith;

TEST(Compare, ErrorsBesideThoseOfTheMedianMfuAndOfOneTaskAfterTheOther) {
  const ComparedSet set = compared(kThree);
  ASSERT_EQ(set.summaries.size(), 1U);
  const MetricSummary& summary = set.summaries[0];
  // 0, 409.6 / 512 - 1 = -0.2, 640 / 500 - 1 = 0.28
  EXPECT_NEAR(summary.predicted.median, 0.2, 1e-12);
  EXPECT_NEAR(summary.predicted.mean, 0.16, 1e-12);
  EXPECT_NEAR(summary.predicted.bias_mean, 0.08 / 3, 1e-12);
  EXPECT_NEAR(summary.predicted.bias_median, 0, 1e-12);
  EXPECT_NEAR(summary.predicted.worst, 0.28, 1e-12);
  EXPECT_EQ(set.set.rows[summary.predicted.worst_row].name, "c");
  // 512 for all: 0, 0, 0.024
  EXPECT_NEAR(summary.guess->mean, 0.008, 1e-12);
  // half the speed: -0.5, -0.6, -0.36
  EXPECT_NEAR(summary.serial->median, 0.5, 1e-12);
  EXPECT_NEAR(summary.serial->worst, -0.6, 1e-12);
  EXPECT_EQ(summary.misfits, 1U);
  EXPECT_EQ(summary.by_gpus, std::nullopt);
}

// llama-tiny is the same model in all rows, so MFUs are in proportion to speeds. Ranks of 512,
// 409.6, 640 are 1, 0, 2, of 512, 512, 500 are 1.5, 1.5, 0; without their mean 0, -1, 1 and 0.5,
// 0.5, -1: the product is -1.5, the squares are 2 and 1.5.
TEST(Compare, RankCorrelationOfPredictedWithMeasured) {
  const MetricSummary summary = compared(kThree).summaries.at(0);
  EXPECT_THAT(summary.rank_correlation, Optional(DoubleNear(-1.5 / std::sqrt(3), 1e-12)));
  EXPECT_THAT(summary.mfu_rank_correlation, Optional(DoubleNear(-1.5 / std::sqrt(3), 1e-12)));
}

TEST(Compare, EveryMetricByItself) {
  const ComparedSet set = compared(R"([
    {"name": "s", "metric": "step_time_s", "value": 0.8},
    {"name": "s2", "metric": "step_time_s", "overrides": "training.micro_batches=2", "value": 2},
    {"name": "m", "metric": "memory_gib", "value": 4},
    {"name": "t", "metric": "tgs", "value": 256}])");
  ASSERT_EQ(set.summaries.size(), 3U);
  EXPECT_NEAR(set.rows[0].predicted, 1, 1e-12);
  EXPECT_NEAR(*set.rows[0].serial, 2, 1e-12);
  EXPECT_NEAR(set.rows[1].predicted, 2.5, 1e-12);
  EXPECT_EQ(set.summaries[0].metric, Metric::kStepTime);
  EXPECT_EQ(set.summaries[0].predicted.rows, 2U);
  // measured 640 and 512 tokens per second: 576 in the median, so 0.8 x 640 / 576 s
  EXPECT_NEAR(*set.rows[0].guess, 0.8 * 640 / 576, 1e-12);
  EXPECT_NEAR(set.rows[2].predicted, 3, 1e-12);
  EXPECT_EQ(set.rows[2].serial, std::nullopt);
  EXPECT_EQ(set.summaries[2].metric, Metric::kMemory);
  EXPECT_EQ(set.summaries[2].guess, std::nullopt);
  EXPECT_NEAR(set.summaries[2].predicted.worst, -0.25, 1e-12);
  EXPECT_NEAR(set.summaries[1].predicted.worst, 1, 1e-12);
}

TEST(Compare, MfuIsThatOfThePrediction) {
  const ComparedSet set = compared(R"([{"name": "u", "metric": "mfu", "value": 0.25}])");
  EXPECT_NEAR(set.rows[0].predicted, set.rows[0].predicted_speed.mfu, 1e-15);
  EXPECT_NEAR(set.rows[0].measured_speed.tgs / 512, 0.25 / set.rows[0].predicted, 1e-9);
}

TEST(Compare, RowsThatCannotBePredictedAreSkippedWithTheReason) {
  const ComparedSet set = compared(R"([
    {"name": "fine", "value": 512},
    {"name": "unknown key", "overrides": "stacks=eager", "value": 512},
    {"name": "told", "value": 512, "skip": "half of its blocks recompute"},
    {"name": "impossible", "overrides": "training.micro_batches=3", "value": 512},
    {"name": "bug", "overrides": "training.micro_batches=5", "value": 512}])");
  EXPECT_EQ(set.compared(), 1U);
  EXPECT_EQ(set.summaries.at(0).predicted.rows, 1U);
  EXPECT_THAT(set.rows[1].skipped, StartsWith("made-up#/stacks: is not a known key"));
  EXPECT_EQ(set.rows[2].skipped, "half of its blocks recompute");
  EXPECT_EQ(set.rows[3].skipped, "no steps of three");
  EXPECT_FALSE(set.rows[3].internal);
  EXPECT_EQ(set.rows[4].skipped, "a bug");
  EXPECT_TRUE(set.rows[4].internal);
}

TEST(Compare, OverridesOfAllRowsComeLast) {
  const ComparedSet set = compared(kThree, {"training.micro_batches=1"});
  for (const ComparedRow& row : set.rows) EXPECT_NEAR(row.predicted, 512, 1e-9);
}

// Errors +10 % at 512 tokens, +20 % at 1024, +30 % at 2048, whatever the number of GPUs.
TEST(Compare, SlopesByDoubling) {
  std::string rows = "[";
  for (int nodes = 1; nodes <= 2; ++nodes)
    for (int doubling = 0; doubling < 3; ++doubling)
      rows += fmt::format(
          R"({}{{"name": "{} {}", "value": {}, "overrides": "cluster.nodes={} training.sequence_length={}"}})",
          rows == "[" ? "" : ",", nodes, doubling, 512 / (1.1 + 0.1 * doubling), nodes,
          512 << doubling);
  const ComparedSet set = compared(rows + "]");
  EXPECT_THAT(set.summaries.at(0).by_sequence_length, Optional(DoubleNear(0.1, 1e-9)));
  EXPECT_THAT(set.summaries.at(0).by_gpus, Optional(DoubleNear(0, 1e-9)));
  EXPECT_EQ(set.summaries.at(0).by_parameters, std::nullopt);
}

TEST(Compare, CountsTheRowsInsideTheBand) {
  // Steps of 1, 2.5 and 3.2 s were predicted, with bands from 0.9 to 1.3 of that; 512 and 500
  // tokens per second are steps of 1, 2 and 4.1 s.
  const ComparedSet set = compared(kThree);
  EXPECT_TRUE(set.rows[0].in_band);
  EXPECT_FALSE(set.rows[1].in_band);
  EXPECT_TRUE(set.rows[2].in_band);
  EXPECT_EQ(set.summaries.at(0).in_band, 2U);
}

}  // namespace
}  // namespace amsp
