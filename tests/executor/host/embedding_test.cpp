#include <gmock/gmock.h>

#include "core/error.h"
#include "kernel_test.h"

namespace amsp {
namespace {

constexpr std::int64_t kRows = 6, kWidth = 3, kVocab = 5;

class EmbeddingTest : public KernelTest {
 protected:
  Buffer tokens_ = make(DType::kI32, {4, 0, 4, 2, 4, 0});
};
AMSP_FOR_ALL_TYPES(EmbeddingTest);

TEST_P(EmbeddingTest, TakesRowsOfTheTable) {
  const Buffer table = random(type(), kVocab * kWidth, 1), out = zeros(type(), kRows * kWidth);
  run(Embedding{type(), kRows, kWidth, tokens_.tokens(), table.data(), out.data()});
  const Values rows = table.values(), actual = out.values();
  for (std::int64_t i = 0; i < kRows * kWidth; ++i)
    EXPECT_EQ(actual[i], rows[tokens_.tokens()[i / kWidth] * kWidth + i % kWidth]);
}

TEST_P(EmbeddingTest, BackwardSumsTheRowsOfAToken) {
  for (const bool accumulate : {false, true}) {
    const Buffer dout = random(type(), kRows * kWidth, 1);
    const Buffer dtable = random(grad_type(), kVocab * kWidth, 2);
    Values expected = accumulate ? dtable.values() : Values(kVocab * kWidth, 0.0);
    for (std::int64_t i = 0; i < kRows * kWidth; ++i)
      expected[tokens_.tokens()[i / kWidth] * kWidth + i % kWidth] += dout.values()[i];
    run(EmbeddingBackward{type(), grad_type(), kRows, kWidth, kVocab, tokens_.tokens(), dout.data(),
                          dtable.data(), accumulate});
    expect_close(dtable.values(), expected, tolerance(grad_type()));
  }
}

// 1 + 300 times 1/256 would stay 1 if it were rounded to bf16 every time.
TEST_P(EmbeddingTest, BackwardRoundsSumsOnce) {
  Values douts(301, 1.0 / 256);
  douts[0] = 1;
  const Buffer tokens = zeros(DType::kI32, 301), dout = make(type(), douts);
  const Buffer dtable = zeros(grad_type(), 1);
  run(EmbeddingBackward{type(), grad_type(), 301, 1, 1, tokens.tokens(), dout.data(), dtable.data(),
                        false});
  EXPECT_NEAR(dtable.values()[0], 1 + 300.0 / 256, 1.0 / 256);
}

class EmbeddingFailure : public testing::Test, public Kernels {};

TEST_F(EmbeddingFailure, NamesTheTokenThatIsNotInTheVocabulary) {
  if (device().name() != "host") GTEST_SKIP() << "only the host device looks at tokens";
  const Buffer tokens = make(DType::kI32, {0, 7}), dout = zeros(DType::kF32, 2 * kWidth);
  const Buffer dtable = zeros(DType::kF32, kVocab * kWidth);
  EXPECT_THAT(
      [&] {
        run(EmbeddingBackward{DType::kF32, DType::kF32, 2, kWidth, kVocab, tokens.tokens(),
                              dout.data(), dtable.data(), false});
      },
      testing::ThrowsMessage<DeviceError>(
          "test: token 1 of the batch is 7, outside the vocabulary of 5"));
}

TEST_F(EmbeddingFailure, NamesANegativeToken) {
  if (device().name() != "host") GTEST_SKIP() << "only the host device looks at tokens";
  const Buffer tokens = make(DType::kI32, {0, -1}), table = zeros(DType::kF32, kVocab * kWidth);
  const Buffer out = zeros(DType::kF32, 2 * kWidth);
  EXPECT_THAT(
      [&] {
        run(Embedding{DType::kF32, 2, kWidth, tokens.tokens(), table.data(), out.data()});
      },
      testing::ThrowsMessage<DeviceError>("test: token 1 of the batch is -1"));
}

class EmbeddingGradient : public testing::Test, public Kernels {};

TEST_F(EmbeddingGradient, MatchesFiniteDifferences) {
  const Buffer tokens = make(DType::kI32, {4, 0, 4, 2, 4, 0});
  const Buffer dout = random(DType::kF64, kRows * kWidth, 1);
  const Buffer dtable = zeros(DType::kF64, kVocab * kWidth);
  run(EmbeddingBackward{DType::kF64, DType::kF64, kRows, kWidth, kVocab, tokens.tokens(),
                        dout.data(), dtable.data(), false});
  const auto loss = [&](const Values& at) {
    const Buffer table = make(DType::kF64, at), out = zeros(DType::kF64, kRows * kWidth);
    run(Embedding{DType::kF64, kRows, kWidth, tokens.tokens(), table.data(), out.data()});
    return dot(out.values(), dout.values());
  };
  expect_gradient(loss, random_values(kVocab * kWidth, 2), dtable.values());
}

}  // namespace
}  // namespace amsp
