#include <cmath>

#include "kernel_test.h"

namespace amsp {
namespace {

constexpr int kBatch = 2, kSequence = 5, kHeads = 3, kDim = 8, kStride = 40;
constexpr double kTheta = 100;

class RotaryTest : public KernelTest {
 protected:
  void rotate(const Buffer& x, bool inverse) {
    run(Rotary{x.type, kBatch, kSequence, kHeads, kDim, kTheta, x.data(), kStride, inverse});
  }
};
AMSP_FOR_ALL_TYPES(RotaryTest);

TEST_P(RotaryTest, TurnsHalvesByThePositionInTheSequence) {
  const Buffer x = random(type(), kBatch * kSequence * kStride, 1);
  Values expected = x.values();
  for (int token = 0; token < kBatch * kSequence; ++token)
    for (int head = 0; head < kHeads; ++head)
      for (int i = 0; i < kDim / 2; ++i) {
        const double angle = token % kSequence * std::pow(kTheta, -2.0 * i / kDim);
        double& a = expected[token * kStride + head * kDim + i];
        double& b = expected[token * kStride + head * kDim + i + kDim / 2];
        const double turned = a * std::cos(angle) - b * std::sin(angle);
        b = a * std::sin(angle) + b * std::cos(angle);
        a = turned;
      }
  rotate(x, false);
  expect_close(x.values(), expected, tolerance(type()));
}

TEST_P(RotaryTest, InverseTurnsBack) {
  const Buffer x = random(type(), kBatch * kSequence * kStride, 1);
  const Values before = x.values();
  rotate(x, false);
  rotate(x, true);
  expect_close(x.values(), before, 2 * tolerance(type()));
}

class RotaryGradient : public RotaryTest {};
INSTANTIATE_TEST_SUITE_P(Fp64, RotaryGradient, testing::Values(Types{DType::kF64, DType::kF64}),
                         name_of);

TEST_P(RotaryGradient, MatchesFiniteDifferences) {
  const Values x = random_values(kBatch * kSequence * kStride, 1);
  const Buffer dx = random(DType::kF64, kBatch * kSequence * kStride, 2);
  const Values dy = dx.values();
  rotate(dx, true);
  const auto loss = [&](const Values& at) {
    const Buffer y = make(DType::kF64, at);
    rotate(y, false);
    return dot(y.values(), dy);
  };
  expect_gradient(loss, x, dx.values());
}

}  // namespace
}  // namespace amsp
