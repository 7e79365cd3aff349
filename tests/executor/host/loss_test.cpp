#include <gmock/gmock.h>

#include <cmath>

#include "core/error.h"
#include "kernel_test.h"

namespace amsp {
namespace {

constexpr std::int64_t kRows = 4, kVocab = 37;

class CrossEntropyTest : public KernelTest {
 protected:
  struct Result {
    double loss;
    Buffer lse;
  };
  Result forward(const Buffer& logits) {
    const Buffer loss = zeros(wide(logits.type), 1), lse = zeros(wide(logits.type), kRows);
    run(CrossEntropy{logits.type, kRows, kVocab, logits.data(), targets_.tokens(), loss.data(),
                     lse.data()});
    return {loss.values()[0], lse};
  }
  void backward(const Buffer& logits, const Buffer& lse) {
    run(CrossEntropyBackward{logits.type, kRows, kVocab, logits.data(), targets_.tokens(),
                             lse.data()});
  }

  Buffer targets_ = make(DType::kI32, {3, 36, 0, 3});
};
AMSP_FOR_ALL_TYPES(CrossEntropyTest);

TEST_P(CrossEntropyTest, IsTheMeanNegativeLogProbabilityAndItsGradient) {
  const Buffer logits = random(type(), kRows * kVocab, 1);
  const Values x = logits.values();
  double loss = 0;
  Values lses, gradient(kRows * kVocab);
  for (std::int64_t row = 0; row < kRows; ++row) {
    double sum = 0;
    for (std::int64_t i = 0; i < kVocab; ++i) sum += std::exp(x[row * kVocab + i]);
    lses.push_back(std::log(sum));
    const std::int32_t target = targets_.tokens()[row];
    loss += (lses[row] - x[row * kVocab + target]) / kRows;
    for (std::int64_t i = 0; i < kVocab; ++i)
      gradient[row * kVocab + i] =
          (std::exp(x[row * kVocab + i]) / sum - (i == target ? 1 : 0)) / kRows;
  }
  const Result result = forward(logits);
  expect_close({result.loss}, {loss}, tolerance(wide(type())));
  expect_close(result.lse.values(), lses, tolerance(wide(type())));
  backward(logits, result.lse);
  expect_close(logits.values(), gradient, tolerance(type()), wide(type()) == type() ? 1 : 0.01);
}

// Equal logits: every probability is 1 / vocab, whatever the logits.
TEST_P(CrossEntropyTest, OfEqualLogitsIsTheLogOfTheVocabularyHoweverLarge) {
  for (const double logit : {0.0, -1024.0, 1024.0}) {
    const Result result = forward(make(type(), Values(kRows * kVocab, logit)));
    EXPECT_NEAR(result.loss, std::log(37.0), type() == DType::kF64 ? 1e-12 : 1e-4);
  }
}

TEST_P(CrossEntropyTest, OfNaNIsNaN) {
  Values values(kRows * kVocab, 0.0);
  values[20] = std::nan("");
  EXPECT_TRUE(std::isnan(forward(make(type(), values)).loss));
}

TEST_P(CrossEntropyTest, NamesATargetThatIsNotInTheVocabulary) {
  if (device().name() != "host") GTEST_SKIP() << "only the host device looks at targets";
  targets_ = make(DType::kI32, {0, 0, 37, 0});
  EXPECT_THAT([&] { forward(random(type(), kRows * kVocab, 1)); },
              testing::ThrowsMessage<DeviceError>(
                  "test: target 2 of the batch is 37, outside the vocabulary of 37"));
}

class CrossEntropyGradient : public CrossEntropyTest {};
INSTANTIATE_TEST_SUITE_P(Fp64, CrossEntropyGradient,
                         testing::Values(Types{DType::kF64, DType::kF64}), name_of);

TEST_P(CrossEntropyGradient, MatchesFiniteDifferences) {
  if (device().name() == "emulated cuda") GTEST_SKIP() << "too many evaluations for an emulator";
  const Values logits = random_values(kRows * kVocab, 1);
  const Buffer gradient = make(DType::kF64, logits);
  backward(gradient, forward(gradient).lse);
  const auto loss = [&](const Values& at) { return forward(make(DType::kF64, at)).loss; };
  expect_gradient(loss, logits, gradient.values());
}

}  // namespace
}  // namespace amsp
