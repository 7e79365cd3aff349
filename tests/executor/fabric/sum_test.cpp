#include "executor/fabric/sum.h"

#include <gtest/gtest.h>

#include <cstdint>

#include "core/error.h"

namespace amsp {
namespace {

std::uint16_t bf16_sum(std::uint16_t a, std::uint16_t b) {
  add_to(DType::kBf16, &a, &b, 1);
  return a;
}

// bf16 has 7 bits of fraction: 1.0 is 0x3f80, the next numbers are 1 + 2^-7 (0x3f81), 1 + 2^-6.
TEST(Sum, RoundsBf16ToNearestTiesToEven) {
  constexpr std::uint16_t kHalfStep = 0x3b80;  // 2^-8
  constexpr std::uint16_t kMoreThanHalf = 0x3b81;
  constexpr std::uint16_t kLessThanHalf = 0x3b7f;
  EXPECT_EQ(bf16_sum(0x3f80, kHalfStep), 0x3f80);
  EXPECT_EQ(bf16_sum(0x3f81, kHalfStep), 0x3f82);
  EXPECT_EQ(bf16_sum(0x3f80, kMoreThanHalf), 0x3f81);
  EXPECT_EQ(bf16_sum(0x3f81, kLessThanHalf), 0x3f81);
  EXPECT_EQ(bf16_sum(0xbf81, 0xbb80), 0xbf82);
}

TEST(Sum, KeepsWhatIsNotANumber) {
  EXPECT_EQ(bf16_sum(0x7f80, 0x3f80), 0x7f80);  // infinity + 1
  EXPECT_EQ(bf16_sum(0x7f7f, 0x7f7f), 0x7f80);  // the greatest + itself
  for (const int nan : {0x7fff, 0x7f81, 0xffff}) {
    const std::uint16_t sum = bf16_sum(static_cast<std::uint16_t>(nan), 0x3f80);
    EXPECT_EQ(sum & 0x7f80, 0x7f80);
    EXPECT_NE(sum & 0x7f, 0);
  }
}

TEST(Sum, RefusesIntegers) {
  std::int32_t a = 1;
  const std::int32_t b = 2;
  EXPECT_THROW(add_to(DType::kI32, &a, &b, 1), InternalError);
}

}  // namespace
}  // namespace amsp
