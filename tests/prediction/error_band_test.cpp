#include "prediction/error_band.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/prediction/predicted.h"

namespace amsp {
namespace {

/// What is known of the hardware, in deviations of all kernels together, of a step that is all
/// compute: low = s (1 - 1.2816 d).
double deviation(const Prediction& prediction) {
  return (1 - prediction.band.low / prediction.step_time) / 1.2816;
}

Prediction alone(const std::string& gpu) {
  // One GPU: nothing communicates.
  return predict(tiny_scenario({"model.preset=llama-7b", "cluster.node.gpus=1",
                                "cluster.node.nics.count=1", "plan=ddp",
                                "training.clip_gradients=false", gpu}))
      .prediction;
}

TEST(ErrorBand, IsAsWideAsTheKernelsAreUnknown) {
  const Prediction measured = alone("training.sequence_length=4096");
  const Prediction datasheet = alone("cluster.gpu.gemm_efficiency=0.7");
  EXPECT_GT(deviation(measured), 0.04);  // what machines differ by
  EXPECT_LT(deviation(measured), 0.08);
  EXPECT_GT(deviation(datasheet), 1.5 * deviation(measured));
}

TEST(ErrorBand, IsLopsidedByWhatIsNotModelled) {
  const Prediction prediction = alone("training.sequence_length=4096");
  const double low = 1 - prediction.band.low / prediction.step_time;
  const double high = prediction.band.high / prediction.step_time - 1;
  EXPECT_NEAR(high - low, 0.03, 1e-9);  // nothing is hidden
}

TEST(ErrorBand, HiddenCommunicationMayCostMoreThanWeSay) {
  const Predicted p = predict(tiny_scenario(
      {"model.preset=llama-7b", "cluster.nodes=2", "plan=zero3", "training.sequence_length=4096"}));
  const Prediction& prediction = p.prediction;
  const RankBreakdown& parts = prediction.breakdown;
  const double hidden = to_seconds(parts.overlapped) / to_seconds(parts.window);
  ASSERT_GT(hidden, 0.1);
  const double low = 1 - prediction.band.low / prediction.step_time;
  const double high = prediction.band.high / prediction.step_time - 1;
  EXPECT_NEAR(high - low, 0.03 + 0.6 * hidden, 1e-9);
}

PlanBand plan(double step_s, std::int64_t exposed_permille, std::int64_t hidden_permille) {
  RankBreakdown parts;
  parts.window = Nanoseconds{1000};
  parts.compute = Nanoseconds{1000 - exposed_permille};
  parts.overlapped = Nanoseconds{hidden_permille};
  parts.exposed = Nanoseconds{exposed_permille};
  return band_among_plans(parts, Seconds{step_s});
}

TEST(ErrorBand, AmongPlansOnlyCommunicationCounts) {
  const PlanBand band = plan(2, 200, 100);
  EXPECT_NEAR(band.least.low.value, 2 * (1 - 1.2816 * 0.25 * 0.2), 1e-9);
  EXPECT_NEAR(band.least.high.value, 2 * (1 + 1.2816 * 0.25 * 0.2), 1e-9);
  EXPECT_NEAR(band.most.high.value, 2 * (1 + 0.6 * 0.1) * (1 + 1.2816 * 0.25 * 0.2), 1e-9);
}

TEST(ErrorBand, PlansThatHideAlikeAreToldApart) {
  const PlanBand best = plan(1, 0, 200);
  EXPECT_FALSE(best.ties_with(plan(1.05, 0, 200)));
  EXPECT_TRUE(best.ties_with(plan(1.05, 0, 100)));   // 1.12 and 1.113 s if hiding is dear
  EXPECT_FALSE(best.ties_with(plan(1.05, 0, 400)));  // then 1.12 and 1.302 s
  EXPECT_TRUE(best.ties_with(plan(1.05, 200, 200)));
}

}  // namespace
}  // namespace amsp
