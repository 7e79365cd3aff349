#include "traces/terms/trace_text.h"

#include <gtest/gtest.h>

#include "core/error.h"

namespace amsp {
namespace {

TEST(FormatUs, HasThreeDecimals) {
  EXPECT_EQ(format_us(0_ns), "0.000");
  EXPECT_EQ(format_us(7_ns), "0.007");
  EXPECT_EQ(format_us(1'234'567_ns), "1234.567");
  EXPECT_EQ(format_us(9'007'199'254'740'993_ns), "9007199254740.993")
      << "one past what a double has";
  EXPECT_THROW(format_us(-1_ns), InternalError);
}

struct UsCase {
  const char* text;
  std::optional<Nanoseconds> expected;
};
constexpr UsCase kUsCases[] = {
    {"0", 0_ns},
    {"12", 12000_ns},
    {"0.5", 500_ns},
    {"0.05", 50_ns},
    {"1.234", 1234_ns},
    {"-1.001", -1001_ns},
    {"1712195495406752.801", 1712195495406752801_ns},
    {"9223372036854774.807", 9223372036854774807_ns},
    {"9223372036854775.807", std::nullopt},  // within a microsecond of the limit
    {"99999999999999999999", std::nullopt},
    {"1.2345", std::nullopt},
    {"1.", std::nullopt},
    {".5", std::nullopt},
    {"1e3", std::nullopt},
    {"--1", std::nullopt},
    {"1.-5", std::nullopt},
    {"+1", std::nullopt},
    {"", std::nullopt},
    {"-", std::nullopt},
    {"NaN", std::nullopt},
};

TEST(ParseUs, ReadsExactNanosecondsOrNothing) {
  for (const auto& [text, expected] : kUsCases) EXPECT_EQ(parse_us(text), expected) << text;
}

TEST(ParseUs, IsTheInverseOfFormat) {
  for (std::int64_t ns = 1; ns < std::int64_t{1} << 60; ns = ns * 3 + 1)
    EXPECT_EQ(parse_us(format_us(Nanoseconds{ns})), Nanoseconds{ns});
}

TEST(Quoted, EscapesWhatJsonDoes) {
  EXPECT_EQ(json_string("a\"b\\c\n\x01"), R"("a\"b\\c\n\u0001")");
}

}  // namespace
}  // namespace amsp
