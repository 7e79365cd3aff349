#include <cmath>

#include "kernel_test.h"

namespace amsp {
namespace {

class SumOfSquaresTest : public KernelTest {};
AMSP_FOR_ALL_TYPES(SumOfSquaresTest);

TEST_P(SumOfSquaresTest, IsOverAllParts) {
  const Buffer a = make(grad_type(), {1, 2, 3}), b = make(grad_type(), {-4});
  const Buffer sum = zeros(wide(type()), 1);
  const std::vector<GradPart> parts = {{a.data(), 3}, {b.data(), 1}, {a.at(2), 1}};
  run(SumOfSquares{grad_type(), wide(type()), parts, sum.data()});
  EXPECT_EQ(sum.values(), Values{1 + 4 + 9 + 16 + 9});
  run(SumOfSquares{grad_type(), wide(type()), {}, sum.data()});
  EXPECT_EQ(sum.values(), Values{0});
}

TEST_P(SumOfSquaresTest, OfManySmallNumbersDoesNotStall) {
  if (device().name() == "emulated cuda") GTEST_SKIP() << "too many numbers for an emulator";
  // An fp32 running sum of 1/2^14 would stall at 2^10.
  const std::int64_t n = std::int64_t{1} << 22;
  const Buffer grad = make(grad_type(), Values(n, std::ldexp(1.0, -5)));
  const Buffer sum = zeros(wide(type()), 1);
  const std::vector<GradPart> parts(8, {grad.data(), n});
  run(SumOfSquares{grad_type(), wide(type()), parts, sum.data()});
  EXPECT_EQ(sum.values(), Values{std::ldexp(1.0, 15)});
}

class AdamWTest : public KernelTest {
 protected:
  struct State {
    Buffer master, m, v, param;
  };
  State state(double master, double m, double v) {
    return {make(wide(type()), {master}), make(wide(type()), {m}), make(wide(type()), {v}),
            zeros(type(), 1)};
  }
  void step(const State& state, double gradient, AdamW work, bool decay = true) {
    const Buffer grad = make(grad_type(), {gradient});
    const std::vector<AdamWPart> parts = {{state.master.data(), state.m.data(), state.v.data(),
                                           grad.data(), state.param.data(), 1, decay}};
    work.parts = parts;
    run(work);
  }
  AdamW options(std::int64_t number) const {
    return {type(), grad_type(), {}, 0.5, 0.5, 0.75, 0.0, 0.25, number, 1.0, 0.0, nullptr};
  }
  double close() const { return wide(type()) == DType::kF64 ? 1e-14 : 1e-6; }
};
AMSP_FOR_ALL_TYPES(AdamWTest);

TEST_P(AdamWTest, FirstStepGoesByTheLearningRateAndDecay) {
  // m = 0.5 * 2 = 1, v = 0.25 * 4 = 1; corrected 1 / 0.5 = 2 and 1 / 0.25 = 4, so the direction is
  // 2 / sqrt(4) = 1; master = 3 - 0.5 * (1 + 0.25 * 3) = 2.125.
  const State s = state(3, 0, 0);
  step(s, 2, options(1));
  EXPECT_NEAR(s.m.values()[0], 1, close());
  EXPECT_NEAR(s.v.values()[0], 1, close());
  EXPECT_NEAR(s.master.values()[0], 2.125, close());
  EXPECT_NEAR(s.param.values()[0], 2.125, close());
}

TEST_P(AdamWTest, SecondStepCorrectsBiasByTheSquaresOfBetas) {
  // From m = 1, v = 1 with gradient -1: m = 0.5 - 0.5 = 0, v = 0.75 + 0.25 = 1; no direction, only
  // decay: 2 - 0.5 * 0.25 * 2 = 1.75. With gradient 2: m = 1.5 / (1 - 0.25) = 2,
  // v = 1.75 / (1 - 0.5625) = 4: direction 1, master = 2 - 0.5 * (1 + 0.5) = 1.25.
  const State none = state(2, 1, 1), some = state(2, 1, 1);
  step(none, -1, options(2));
  EXPECT_NEAR(none.master.values()[0], 1.75, close());
  step(some, 2, options(2));
  EXPECT_NEAR(some.m.values()[0], 1.5, close());
  EXPECT_NEAR(some.v.values()[0], 1.75, close());
  EXPECT_NEAR(some.master.values()[0], 1.25, close());
}

TEST_P(AdamWTest, PartsWithoutDecayDoNotDecay) {
  const State s = state(3, 0, 0);
  step(s, 2, options(1), false);
  EXPECT_NEAR(s.master.values()[0], 2.5, close());
}

TEST_P(AdamWTest, ScalesGradientsAndAddsEpsilonToTheRoot) {
  // g = 8 * 0.25 = 2; corrected 2 and 4 as above; direction 2 / (2 + 2) = 0.5.
  const State s = state(3, 0, 0);
  AdamW work = options(1);
  work.grad_scale = 0.25;
  work.eps = 2;
  work.weight_decay = 0;
  step(s, 8, work);
  EXPECT_NEAR(s.master.values()[0], 2.75, close());
}

TEST_P(AdamWTest, ClipsByTheNormOfScaledGradients) {
  // norm = 0.5 * sqrt(64) = 4, so g = 8 * 0.5 * 2 / 4 = 2 (but for the 1e-6 added to the norm);
  // m = 1, v = 1.
  const State s = state(3, 0, 0);
  const Buffer squares = make(wide(type()), {64});
  AdamW work = options(1);
  work.grad_scale = 0.5;
  work.max_norm = 2;
  work.sum_of_squares = squares.data();
  step(s, 8, work);
  EXPECT_NEAR(s.m.values()[0], 2.0 / (4 + 1e-6) * 4 * 0.5, close());
  EXPECT_NEAR(s.v.values()[0], 1, 1e-5);
}

TEST_P(AdamWTest, LeavesGradientsBelowTheLargestNormAlone) {
  const State s = state(3, 0, 0);
  const Buffer squares = make(wide(type()), {4});
  AdamW work = options(1);
  work.max_norm = 2.1;
  work.sum_of_squares = squares.data();
  step(s, 2, work);
  EXPECT_NEAR(s.m.values()[0], 1, close());
}

// With fp32 masters of bf16 parameters, steps below the distance of two bf16 numbers add up.
TEST_P(AdamWTest, SmallStepsAddUpInTheMaster) {
  const State s = state(1, 0, 0);
  AdamW work = options(1);
  work.learning_rate = 1.0 / 1024;
  work.weight_decay = 0;
  for (int i = 0; i < 8; ++i) {
    work.step = i + 1;
    step(s, 1, work);
  }
  EXPECT_NEAR(s.param.values()[0], 1 - 8.0 / 1024, type() == DType::kF64 ? 1e-12 : 1e-5);
}

}  // namespace
}  // namespace amsp
