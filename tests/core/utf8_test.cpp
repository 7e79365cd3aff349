#include "core/utf8.h"

#include <gtest/gtest.h>

#include <string>

namespace amsp {
namespace {

constexpr std::size_t kNone = std::string_view::npos;

/// The UTF-8 of any number below 2^21, valid or not, by the plain bit pattern.
std::string encode(unsigned code) {
  if (code < 0x80) return {char(code)};
  const auto tail = [&](int shift) { return char(0x80 | ((code >> shift) & 0x3F)); };
  if (code < 0x800) return {char(0xC0 | (code >> 6)), tail(0)};
  if (code < 0x10000) return {char(0xE0 | (code >> 12)), tail(6), tail(0)};
  return {char(0xF0 | (code >> 18)), tail(12), tail(6), tail(0)};
}

TEST(Utf8, ExactlyTheCodePointsAreValid) {
  for (unsigned code = 0; code < 0x200000; ++code) {
    const bool valid = code <= 0x10FFFF && (code < 0xD800 || code > 0xDFFF);
    const std::string text = encode(code);
    ASSERT_EQ(utf8_error(text), valid ? kNone : 0) << code;
    ASSERT_EQ(utf8_length(text), 1U) << code;
  }
}

TEST(Utf8, FindsTheFirstBadByte) {
  EXPECT_EQ(utf8_error(""), kNone);
  EXPECT_EQ(utf8_error("ab\x80"), 2U);            // a continuation alone
  EXPECT_EQ(utf8_error("\xC0\xAF"), 0U);          // overlong, two bytes
  EXPECT_EQ(utf8_error("a\xE0\x80\xAF"), 1U);     // overlong, three
  EXPECT_EQ(utf8_error("\xF0\x80\x80\xAF"), 0U);  // overlong, four
  EXPECT_EQ(utf8_error("\xC3\xA9\xC3"), 2U);      // cut short at the end
  EXPECT_EQ(utf8_error("\xE2\x82z"), 0U);         // cut short inside
  EXPECT_EQ(utf8_error("\xF0\x9F\x98\xC0"), 0U);  // a lead byte as the last one
  EXPECT_EQ(utf8_error("\xFE"), 0U);
}

TEST(Shorten, CutsBetweenCodePoints) {
  EXPECT_EQ(shorten("", 3), "");
  EXPECT_EQ(shorten("abcd", 4), "abcd");
  EXPECT_EQ(shorten("abcde", 4), "a...");
  EXPECT_EQ(shorten("abcd", 3), "...");
  EXPECT_EQ(shorten("\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9", 4), "\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9");
  EXPECT_EQ(shorten("\xC3\xA9\xE2\x82\xAC\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9", 5),
            "\xC3\xA9\xE2\x82\xAC...");
}

}  // namespace
}  // namespace amsp
