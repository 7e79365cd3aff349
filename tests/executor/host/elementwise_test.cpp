#include "kernel_test.h"

namespace amsp {
namespace {

class BiasTest : public KernelTest {};
AMSP_FOR_ALL_TYPES(BiasTest);

TEST_P(BiasTest, IsAddedToEveryRow) {
  const Buffer y = make(type(), {1, 2, -7, 3, 4, -7}), bias = make(type(), {10, 20});
  run(AddBias{type(), 2, 2, y.data(), 3, bias.data()});
  EXPECT_EQ(y.values(), (Values{11, 22, -7, 13, 24, -7}));
}

TEST_P(BiasTest, ColumnSumsAreItsGradient) {
  const Buffer dy = make(type(), {1, 2, -7, 3, 4, -7});
  const Buffer sum = make(grad_type(), {100, 200});
  run(ColumnSum{type(), grad_type(), 2, 2, dy.data(), 3, sum.data(), true});
  EXPECT_EQ(sum.values(), (Values{104, 206}));
  run(ColumnSum{type(), grad_type(), 2, 2, dy.data(), 3, sum.data(), false});
  EXPECT_EQ(sum.values(), (Values{4, 6}));
}

// 1 + 300 times 1/256 would stay 1 if it were rounded to bf16 every time.
TEST_P(BiasTest, ColumnSumsAreRoundedOnce) {
  Values rows(301, 1.0 / 256);
  rows[0] = 1;
  const Buffer dy = make(type(), rows), sum = zeros(grad_type(), 1);
  run(ColumnSum{type(), grad_type(), 301, 1, dy.data(), 1, sum.data(), false});
  EXPECT_NEAR(sum.values()[0], 1 + 300.0 / 256, 1.0 / 256);
}

class BiasGradient : public testing::Test, public Kernels {};

TEST_F(BiasGradient, MatchesFiniteDifferences) {
  const Values x = random_values(12, 1);
  const Buffer dy = random(DType::kF64, 12, 2), dbias = zeros(DType::kF64, 3);
  run(ColumnSum{DType::kF64, DType::kF64, 4, 3, dy.data(), 3, dbias.data(), false});
  const auto loss = [&](const Values& at) {
    const Buffer y = make(DType::kF64, x), bias = make(DType::kF64, at);
    run(AddBias{DType::kF64, 4, 3, y.data(), 3, bias.data()});
    return dot(y.values(), dy.values());
  };
  expect_gradient(loss, random_values(3, 3), dbias.values());
}

class AddTest : public KernelTest {};
AMSP_FOR_ALL_TYPES(AddTest);

TEST_P(AddTest, AddsIntoAThirdOrEitherOfTheTwo) {
  const Buffer a = random(type(), 1001, 1), b = random(type(), 1001, 2);
  const Buffer y = zeros(type(), 1001);
  Values expected = a.values();
  for (std::size_t i = 0; i < expected.size(); ++i) expected[i] += b.values()[i];
  run(Add{type(), 1001, a.data(), b.data(), y.data()});
  expect_close(y.values(), expected, tolerance(type()));
  const Buffer other = make(type(), a.values());
  run(Add{type(), 1001, other.data(), b.data(), other.data()});
  EXPECT_EQ(other.values(), y.values());
  run(Add{type(), 1001, a.data(), b.data(), b.data()});
  EXPECT_EQ(b.values(), y.values());
}

class ConvertTest : public testing::Test, public Kernels {};

TEST_F(ConvertTest, GoesBetweenAllStorageTypes) {
  for (const DType from_type : {DType::kF64, DType::kF32, DType::kBf16})
    for (const DType to_type : {DType::kF64, DType::kF32, DType::kBf16}) {
      const Buffer from = make(from_type, {1.5, -0.25, 3}), to = make(to_type, {10, 20, 30});
      run(Convert{3, from_type, from.data(), to_type, to.data(), false});
      EXPECT_EQ(to.values(), (Values{1.5, -0.25, 3}));
      run(Convert{3, from_type, from.data(), to_type, to.data(), true});
      EXPECT_EQ(to.values(), (Values{3, -0.5, 6}));
    }
}

TEST_F(ConvertTest, RoundsToNearestEven) {
  // bf16 has 7 bits after the point: ties go to the even neighbour.
  const Buffer from = make(DType::kF32, {1 + 1.0 / 256, 1 + 3.0 / 256, 1 + 1.01 / 256});
  const Buffer to = zeros(DType::kBf16, 3);
  run(Convert{3, DType::kF32, from.data(), DType::kBf16, to.data(), false});
  EXPECT_EQ(to.values(), (Values{1, 1 + 2.0 / 128, 1 + 1.0 / 128}));
}

TEST_F(ConvertTest, CopiesTokens) {
  const Buffer from = make(DType::kI32, {1, -2, 2147483647}), to = zeros(DType::kI32, 3);
  run(Convert{3, DType::kI32, from.data(), DType::kI32, to.data(), false});
  EXPECT_EQ(to.values(), from.values());
}

}  // namespace
}  // namespace amsp
