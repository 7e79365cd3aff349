#include <cmath>
#include <limits>

#include "executor/host/kernels/bfloat16.h"
#include "kernel_test.h"

namespace amsp {
namespace {

struct Shape {
  std::int64_t m, n, k;
  bool transpose_a, transpose_b;
};

/// op(A) op(B) + C, of dense matrices.
Values product(const Shape& shape, const Values& a, const Values& b, Values c) {
  for (std::int64_t i = 0; i < shape.m; ++i)
    for (std::int64_t j = 0; j < shape.n; ++j)
      for (std::int64_t l = 0; l < shape.k; ++l)
        c[i * shape.n + j] += a[shape.transpose_a ? l * shape.m + i : i * shape.k + l] *
                              b[shape.transpose_b ? j * shape.k + l : l * shape.n + j];
  return c;
}

Gemm work_of(const Shape& shape, const Buffer& a, const Buffer& b, const Buffer& c,
             bool accumulate) {
  return {a.type,
          c.type,
          shape.m,
          shape.n,
          shape.k,
          a.data(),
          shape.transpose_a ? shape.m : shape.k,
          shape.transpose_a,
          b.data(),
          shape.transpose_b ? shape.k : shape.n,
          shape.transpose_b,
          c.data(),
          shape.n,
          accumulate};
}

class GemmTest : public KernelTest {};
AMSP_FOR_ALL_TYPES(GemmTest);

TEST_P(GemmTest, IsTheSumOfProductsForEveryTransposition) {
  for (const bool transpose_a : {false, true})
    for (const bool transpose_b : {false, true})
      for (const bool accumulate : {false, true}) {
        const Shape shape{37, 29, 53, transpose_a, transpose_b};
        const Buffer a = random(type(), 37 * 53, 1), b = random(type(), 53 * 29, 2);
        const Buffer c = random(grad_type(), 37 * 29, 3);
        const Values expected =
            product(shape, a.values(), b.values(), accumulate ? c.values() : Values(37 * 29, 0.0));
        run(work_of(shape, a, b, c, accumulate));
        expect_close(c.values(), expected, tolerance(grad_type()));
      }
}

// Larger than the blocks of a bf16 product in every direction.
TEST_P(GemmTest, IsRightBeyondOneBlock) {
  const std::int64_t m = 1027, n = 1031, k = 1037;
  const Buffer a = random(type(), m * k, 1), b = random(type(), n * k, 2);
  const Buffer c = random(grad_type(), m * n, 3);
  const Values a_values = a.values(), b_values = b.values(), before = c.values();
  run(work_of({m, n, k, false, true}, a, b, c, true));
  const Values after = c.values();
  Values actual, expected;
  for (std::int64_t i = 0; i < m; i += 41)
    for (std::int64_t j = 0; j < n; j += 37) {
      double sum = before[i * n + j];
      for (std::int64_t l = 0; l < k; ++l) sum += a_values[i * k + l] * b_values[j * k + l];
      expected.push_back(sum);
      actual.push_back(after[i * n + j]);
      if (actual.size() > 200) break;
    }
  expect_close(actual, expected, tolerance(grad_type()), 20);
}

TEST_P(GemmTest, LeavesWhatIsBetweenStridesAlone) {
  // Rows of 2 in matrices of 5 columns: [[1, 2], [3, 4]] [[5, 6], [7, 8]].
  const Buffer a = make(type(), {1, 2, 9, 9, 9, 3, 4, 9, 9, 9});
  const Buffer b = make(type(), {5, 6, 9, 9, 9, 7, 8, 9, 9, 9});
  const Buffer c = make(grad_type(), {0, 0, -1, -1, -1, 0, 0, -1, -1, -1});
  run(Gemm{type(), grad_type(), 2, 2, 2, a.data(), 5, false, b.data(), 5, false, c.data(), 5,
           false});
  EXPECT_EQ(c.values(), (Values{19, 22, -1, -1, -1, 43, 50, -1, -1, -1}));
}

TEST_P(GemmTest, OverwritesWhateverWasThere) {
  const Buffer a = make(type(), {2}), b = make(type(), {3});
  const Buffer c = make(grad_type(), {std::numeric_limits<double>::quiet_NaN()});
  run(work_of({1, 1, 1, false, false}, a, b, c, false));
  EXPECT_EQ(c.values(), Values{6});
}

TEST_P(GemmTest, OfAnEmptyInnerDimensionIsZero) {
  const Buffer a = zeros(type(), 1), b = zeros(type(), 1), c = make(grad_type(), {1, 2, 3, 4});
  run(work_of({2, 2, 0, false, false}, a, b, c, true));
  EXPECT_EQ(c.values(), (Values{1, 2, 3, 4}));
  run(work_of({2, 2, 0, false, false}, a, b, c, false));
  EXPECT_EQ(c.values(), (Values{0, 0, 0, 0}));
}

TEST_P(GemmTest, GivesTheSameBitsAgain) {
  const Buffer a = random(type(), 200 * 300, 1), b = random(type(), 300 * 100, 2);
  const Buffer first = zeros(grad_type(), 200 * 100), second = zeros(grad_type(), 200 * 100);
  run(work_of({200, 100, 300, false, false}, a, b, first, false));
  run(work_of({200, 100, 300, false, false}, a, b, second, false));
  EXPECT_EQ(first.values(), second.values());
}

class GemmGradient : public testing::Test, public Kernels {};

TEST_F(GemmGradient, MatchesFiniteDifferences) {
  const Shape forward{3, 4, 5, false, true};  // y = x W^T
  const Buffer x = random(DType::kF64, 15, 1), w = random(DType::kF64, 20, 2);
  const Buffer dy = random(DType::kF64, 12, 3);
  const Buffer dx = zeros(DType::kF64, 15), dw = zeros(DType::kF64, 20);
  run(work_of({3, 5, 4, false, false}, dy, w, dx, false));
  run(work_of({4, 5, 3, true, false}, dy, x, dw, false));
  const auto loss = [&](const Values& x_values, const Values& w_values) {
    const Buffer y = zeros(DType::kF64, 12);
    run(work_of(forward, make(DType::kF64, x_values), make(DType::kF64, w_values), y, false));
    return dot(y.values(), dy.values());
  };
  expect_gradient([&](const Values& at) { return loss(at, w.values()); }, x.values(), dx.values());
  expect_gradient([&](const Values& at) { return loss(x.values(), at); }, w.values(), dw.values());
}

float rounded(float value) {
  return host::to_float(host::to_bf16(value));
}

TEST(Bfloat16, RoundsToNearestAndTiesToEven) {
  const float ulp = std::ldexp(1.0F, -7);  // between 1 and 2
  EXPECT_EQ(rounded(1 + ulp * 0.49F), 1);
  EXPECT_EQ(rounded(1 + ulp * 0.5F), 1);
  EXPECT_EQ(rounded(1 + ulp * 0.51F), 1 + ulp);
  EXPECT_EQ(rounded(1 + ulp * 1.5F), 1 + 2 * ulp);
  EXPECT_EQ(rounded(-1 - ulp * 1.5F), -1 - 2 * ulp);
  EXPECT_EQ(rounded(2 - ulp * 0.25F), 2);
}

TEST(Bfloat16, KeepsInfinitiesAndNaNs) {
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(rounded(infinity), infinity);
  EXPECT_EQ(rounded(-infinity), -infinity);
  EXPECT_EQ(rounded(std::numeric_limits<float>::max()), infinity);
  EXPECT_TRUE(std::isnan(rounded(std::numeric_limits<float>::quiet_NaN())));
  EXPECT_TRUE(std::isnan(rounded(std::bit_cast<float>(0x7f800001U))));  // its upper half: infinity
  EXPECT_TRUE(std::isnan(rounded(std::bit_cast<float>(0xffffffffU))));
}

}  // namespace
}  // namespace amsp
