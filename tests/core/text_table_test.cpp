#include "core/text_table.h"

#include <gtest/gtest.h>

#include "core/error.h"

namespace amsp {
namespace {

TEST(TextTable, FirstColumnLeftOthersRight) {
  TextTable table({"plan", "step", "memory"});
  table.add({"tp2", "1.273 s", "74.6 GiB"});
  table.add({"dp16 zero1", "312.4 ms", "9 B"});
  EXPECT_EQ(table.str(),
            "plan            step    memory\n"
            "----------  --------  --------\n"
            "tp2          1.273 s  74.6 GiB\n"
            "dp16 zero1  312.4 ms       9 B\n");
}

TEST(TextTable, LeftColumnsEndWithoutBlanks) {
  TextTable table({"n", "name", "note"});
  table.align_left(1);
  table.align_left(2);
  table.add({"1", "a", "x"});
  table.add({"10", "bcdef", "longer"});
  EXPECT_EQ(table.str(),
            "n   name   note\n"
            "--  -----  ------\n"
            "1   a      x\n"
            "10  bcdef  longer\n");
}

TEST(TextTable, ShortRowsAreFilled) {
  TextTable table({"a", "b"});
  table.add({"x"});
  table.add({});
  table.add({"", "y"});
  EXPECT_EQ(table.str(),
            "a  b\n"
            "-  -\n"
            "x\n"
            "\n"
            "   y\n");
}

TEST(TextTable, IndentsEveryLine) {
  TextTable table({"key", "v"});
  table.add({"a", "1"});
  EXPECT_EQ(table.str("  "),
            "  key  v\n"
            "  ---  -\n"
            "  a    1\n");
}

TEST(TextTable, HeaderAlone) {
  EXPECT_EQ(TextTable({"key", "value"}).str(), "key  value\n---  -----\n");
}

TEST(TextTable, CountsCodePointsNotBytes) {
  TextTable table({"\xC2\xB5s", "\xC3\xA9"});
  table.add({"abc", "12"});
  table.add({"\xE2\x86\x92", "\xF0\x9F\x98\x80"});
  EXPECT_EQ(table.str(),
            "\xC2\xB5s    \xC3\xA9\n"
            "---  --\n"
            "abc  12\n"
            "\xE2\x86\x92     \xF0\x9F\x98\x80\n");
}

TEST(TextTable, WrongShapeIsABug) {
  EXPECT_THROW(TextTable({}), InternalError);
  TextTable table({"a"});
  EXPECT_THROW(table.add({"1", "2"}), InternalError);
  EXPECT_THROW(table.align_left(1), InternalError);
}

}  // namespace
}  // namespace amsp
