#include <cmath>

#include "kernel_test.h"

namespace amsp {
namespace {

constexpr std::int64_t kRows = 3, kWidth = 21, kStride = 50;

double swiglu(double gate, double up) {
  return gate / (1 + std::exp(-gate)) * up;
}

/// Of strided rows, dense.
Values rows_of(const Values& strided, std::int64_t first) {
  Values result;
  for (std::int64_t row = 0; row < kRows; ++row)
    for (std::int64_t i = 0; i < kWidth; ++i) result.push_back(strided[row * kStride + first + i]);
  return result;
}

class SwiGluTest : public KernelTest {
 protected:
  /// gate and up lie in rows of one matrix, as one product of matrices gives them.
  Values forward(const Buffer& x) {
    const Buffer y = zeros(x.type, kRows * kWidth);
    run(SwiGlu{x.type, kRows, kWidth, x.data(), x.at(25), kStride, y.data()});
    return y.values();
  }
};
AMSP_FOR_ALL_TYPES(SwiGluTest);

TEST_P(SwiGluTest, IsTheFormula) {
  const Buffer x = random(type(), kRows * kStride, 1);
  const Values gate = rows_of(x.values(), 0), up = rows_of(x.values(), 25);
  Values expected;
  for (std::size_t i = 0; i < gate.size(); ++i) expected.push_back(swiglu(gate[i], up[i]));
  expect_close(forward(x), expected, tolerance(type()));
}

TEST_P(SwiGluTest, OfLargeGatesIsTheGateOrZero) {
  Values values(kRows * kStride, 2.0);
  for (std::int64_t i = 0; i < kWidth; ++i) values[i] = i % 2 ? 1000.0 : -1000.0;
  const Values y = forward(make(type(), values));
  for (std::int64_t i = 0; i < kWidth; ++i) EXPECT_EQ(y[i], i % 2 ? 2000.0 : 0.0);
}

TEST_P(SwiGluTest, BackwardInPlaceIsTheFormulaAndLeavesTheRestAlone) {
  const Buffer x = random(type(), kRows * kStride, 1), dy = random(type(), kRows * kWidth, 2);
  const Values before = x.values(), dys = dy.values();
  Values expected = before;
  for (std::int64_t row = 0; row < kRows; ++row)
    for (std::int64_t i = 0; i < kWidth; ++i) {
      const double gate = before[row * kStride + i], up = before[row * kStride + 25 + i];
      const double s = 1 / (1 + std::exp(-gate)), d = dys[row * kWidth + i];
      expected[row * kStride + i] = d * up * s * (1 + gate * (1 - s));
      expected[row * kStride + 25 + i] = d * gate * s;
    }
  run(SwiGluBackward{type(), kRows, kWidth, x.data(), x.at(25), kStride, dy.data(), x.data(),
                     x.at(25)});
  expect_close(x.values(), expected, tolerance(type()));
}

class SwiGluGradient : public SwiGluTest {};
INSTANTIATE_TEST_SUITE_P(Fp64, SwiGluGradient, testing::Values(Types{DType::kF64, DType::kF64}),
                         name_of);

TEST_P(SwiGluGradient, MatchesFiniteDifferences) {
  const Buffer x = random(DType::kF64, kRows * kStride, 1);
  const Buffer dy = random(DType::kF64, kRows * kWidth, 2);
  const Buffer dx = zeros(DType::kF64, kRows * kStride);
  run(SwiGluBackward{DType::kF64, kRows, kWidth, x.data(), x.at(25), kStride, dy.data(), dx.data(),
                     dx.at(25)});
  const auto loss = [&](const Values& at) {
    return dot(forward(make(DType::kF64, at)), dy.values());
  };
  expect_gradient(loss, x.values(), dx.values());
}

}  // namespace
}  // namespace amsp
