#include "core/text_lines.h"

#include <gtest/gtest.h>

namespace amsp {
namespace {

TEST(TextLines, EachEndsWithANewline) {
  TextLines text;
  text.line("{} of {}", 1, 2);
  text.line("");
  text.add("a table\n");
  EXPECT_EQ(text.take(), "1 of 2\n\na table\n");
}

TEST(Wrapped, BreaksAtBlanksOnly) {
  EXPECT_EQ(wrapped("one two three four", "- ", "  ", 9), "- one two\n  three\n  four\n");
  EXPECT_EQ(wrapped("a_word_that_is_too_long b", "", "", 5), "a_word_that_is_too_long\nb\n");
}

TEST(Wrapped, TakesManyBlanksForOne) {
  EXPECT_EQ(wrapped("  a  b\nc ", "", "", 10), "a b c\n");
  EXPECT_EQ(wrapped("", "head", "", 10), "head\n");
}

TEST(Wrapped, CountsCodePoints) {
  EXPECT_EQ(wrapped("\u00e4\u00e4 \u00e4\u00e4", "", "", 5), "\u00e4\u00e4 \u00e4\u00e4\n");
  EXPECT_EQ(wrapped("\u00e4\u00e4 \u00e4\u00e4", "", "", 4), "\u00e4\u00e4\n\u00e4\u00e4\n");
}

}  // namespace
}  // namespace amsp
