// Steps under jitter of compute.
#include "sim/jitter.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "tests/lowering/small_cluster.h"
#include "tests/sim/fold_cases.h"

namespace amsp {
namespace {

Conditions::Jitter jitter(double sigma, int ranks, int samples = 20) {
  return {sigma, 7, ranks, samples};
}

TEST(Jitter, FactorsAreLognormalOfMeanOne) {
  const std::vector<double> factors = draw_factors(jitter(0.2, 1), 20000, 0);
  ASSERT_EQ(factors.size(), 20000u);
  double sum = 0, logs = 0, squares = 0;
  for (const double factor : factors) {
    sum += factor;
    logs += std::log(factor);
    squares += std::log(factor) * std::log(factor);
  }
  const double n = 20000, mean = logs / n;
  EXPECT_NEAR(sum / n, 1, 0.01);
  EXPECT_NEAR(mean, -0.02, 0.01);
  EXPECT_NEAR(std::sqrt(squares / n - mean * mean), 0.2, 0.005);
}

TEST(Jitter, DrawsDependOnSeedSampleAndGroupOnly) {
  const auto first = draw_factors(jitter(0.1, 4), 16, 3);
  EXPECT_EQ(first.size(), 4u);
  EXPECT_EQ(draw_factors(jitter(0.1, 4), 16, 3), first);
  EXPECT_EQ(draw_factors(jitter(0.1, 1), 4, 3), first);
  EXPECT_NE(draw_factors(jitter(0.1, 4), 16, 4), first);
  Conditions::Jitter other = jitter(0.1, 4);
  other.seed = 8;
  EXPECT_NE(draw_factors(other, 16, 3), first);
}

TEST(Jitter, NoSpreadIsTheStepItself) {
  const SmallCase c({{2, 1}, {2, 1}, {2, 2}, {2, 4}, {}});
  const Seconds step = simulate(c.lowering).timeline.step_time();
  for (const Seconds time : sample_steps(c.lowering, jitter(0, 1, 3), 2, [](std::size_t) {}))
    EXPECT_TRUE(same_time(time, step));
}

TEST(Jitter, WorkersDoNotMatter) {
  const SmallCase c({{2, 1}, {2, 1}, {2, 2}, {2, 4}, {}});
  const auto steps = [&](int workers) {
    return sample_steps(c.lowering, jitter(0.1, 2), workers, [](std::size_t) {});
  };
  const auto one = steps(1);
  EXPECT_EQ(one.size(), 20u);
  EXPECT_EQ(steps(3), one);
}

/// A jittered step is that of GPUs which are as slow or fast for good.
class JitteredEqualsFull : public testing::TestWithParam<int> {};

TEST_P(JitteredEqualsFull, OnGeneratedCases) {
  FoldCases cases(static_cast<std::uint32_t>(GetParam()));
  FoldCase c = cases.next();
  c.conditions.slow_gpus.clear();
  c.training.micro_batches = GetParam() % 2 == 0 ? 1 : 14;
  SCOPED_TRACE(c.name);
  const FoldSetup setup(c);
  const Conditions::Jitter draw = jitter(0.1, 1 + GetParam() % 3);
  const int ranks = setup.graph.dp.size();
  const auto factors = draw_factors(draw, ranks, 5);
  std::vector<double> by_rank;
  for (Rank rank = 0; rank < ranks; ++rank)
    by_rank.push_back(factors[static_cast<std::size_t>(rank / draw.ranks)]);
  const Lowering slow(setup.graph, setup.cluster, *setup.collectives, setup.compute, by_rank);
  Simulator jittered(setup.lowering, draw.ranks);
  EXPECT_TRUE(same_time(jittered.run(factors).timeline.step_time(),
                        simulate_every_rank(slow).timeline.step_time()));
}

INSTANTIATE_TEST_SUITE_P(Seed, JitteredEqualsFull, testing::Range(2000, 2012));

}  // namespace
}  // namespace amsp
