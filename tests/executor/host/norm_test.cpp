#include <cmath>

#include "kernel_test.h"

namespace amsp {
namespace {

class RmsNormTest : public KernelTest {};
AMSP_FOR_ALL_TYPES(RmsNormTest);

TEST_P(RmsNormTest, DividesByTheRootOfTheMeanSquare) {
  const std::int64_t rows = 5, n = 67;
  const double eps = 1e-3;
  const Buffer x = random(type(), rows * n, 1), weight = random(type(), n, 2);
  const Buffer y = zeros(type(), rows * n), rstd = zeros(wide(type()), rows);
  run(RmsNorm{type(), rows, n, eps, x.data(), weight.data(), y.data(), rstd.data()});
  Values expected(rows * n), expected_rstd(rows);
  const Values xs = x.values(), weights = weight.values();
  for (std::int64_t row = 0; row < rows; ++row) {
    double squares = 0;
    for (std::int64_t i = 0; i < n; ++i) squares += xs[row * n + i] * xs[row * n + i];
    expected_rstd[row] = 1 / std::sqrt(squares / n + eps);
    for (std::int64_t i = 0; i < n; ++i)
      expected[row * n + i] = xs[row * n + i] * expected_rstd[row] * weights[i];
  }
  expect_close(y.values(), expected, tolerance(type()));
  expect_close(rstd.values(), expected_rstd, tolerance(wide(type())));
}

TEST_P(RmsNormTest, GradientsAreTheFormulas) {
  const std::int64_t rows = 5, n = 67;
  const Buffer x = random(type(), rows * n, 1), weight = random(type(), n, 2);
  const Buffer dy = random(type(), rows * n, 3), dx = zeros(type(), rows * n);
  const Buffer rstd = make(wide(type()), {0.5, 1, 1.5, 2, 2.5});
  for (const bool accumulate : {false, true}) {
    const Buffer dweight = random(grad_type(), n, 4);
    Values expected_dw = accumulate ? dweight.values() : Values(n, 0.0), expected_dx(rows * n);
    run(RmsNormBackward{type(), grad_type(), rows, n, dy.data(), x.data(), weight.data(),
                        rstd.data(), dx.data(), dweight.data(), accumulate});
    const Values xs = x.values(), weights = weight.values(), dys = dy.values();
    for (std::int64_t row = 0; row < rows; ++row) {
      const double r = rstd.values()[row];
      double mean = 0;
      for (std::int64_t i = row * n; i < (row + 1) * n; ++i)
        mean += dys[i] * weights[i - row * n] * xs[i] / n;
      for (std::int64_t i = row * n; i < (row + 1) * n; ++i) {
        expected_dx[i] = r * (dys[i] * weights[i - row * n] - r * r * mean * xs[i]);
        expected_dw[i - row * n] += dys[i] * xs[i] * r;
      }
    }
    expect_close(dx.values(), expected_dx, tolerance(type()));
    expect_close(dweight.values(), expected_dw, tolerance(grad_type()));
  }
}

class RmsNormGradient : public testing::Test, public Kernels {};

TEST_F(RmsNormGradient, MatchesFiniteDifferences) {
  const std::int64_t rows = 3, n = 7;
  const Buffer x = random(DType::kF64, rows * n, 1), weight = random(DType::kF64, n, 2);
  const Buffer dy = random(DType::kF64, rows * n, 3), rstd = zeros(DType::kF64, rows);
  const auto loss = [&](const Values& xs, const Values& weights) {
    const Buffer y = zeros(DType::kF64, rows * n);
    const Buffer at = make(DType::kF64, xs), by = make(DType::kF64, weights);
    run(RmsNorm{DType::kF64, rows, n, 1e-2, at.data(), by.data(), y.data(), rstd.data()});
    return dot(y.values(), dy.values());
  };
  loss(x.values(), weight.values());  // for rstd
  const Buffer dx = zeros(DType::kF64, rows * n), dweight = zeros(DType::kF64, n);
  run(RmsNormBackward{DType::kF64, DType::kF64, rows, n, dy.data(), x.data(), weight.data(),
                      rstd.data(), dx.data(), dweight.data(), false});
  expect_gradient([&](const Values& at) { return loss(at, weight.values()); }, x.values(),
                  dx.values());
  expect_gradient([&](const Values& at) { return loss(x.values(), at); }, weight.values(),
                  dweight.values());
}

}  // namespace
}  // namespace amsp
