#include "trace_reader/json_cursor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <memory>
#include <optional>
#include <ostream>

#include "core/json/json.h"

namespace amsp {
namespace {

/// What came of reading a text.
struct Reading {
  std::string value;                 // as the way of reading gives it
  std::optional<SyntaxFault> fault;  // none: read
  std::string place;                 // of the fault
  std::int64_t repairs = 0;
};

struct Way {
  const char* name;
  std::string (*read)(JsonCursor& cursor);
};
std::string read_members(JsonCursor& cursor) {
  std::string text;
  if (cursor.peek() != '{') return cursor.copy_value();
  cursor.read_object(
      [&](std::string_view key) { text += std::string(key) + "=" + cursor.copy_value() + ";"; });
  return text;
}
const Way kWays[] = {
    {"Skip",
     [](JsonCursor& cursor) {
       cursor.skip_value();
       return std::string();
     }},
    {"Copy", [](JsonCursor& cursor) { return cursor.copy_value(); }},
    {"Read",
     [](JsonCursor& cursor) {
       ScalarValue value;
       cursor.read_value(value, 1 << 20);
       return value.text;
     }},
    {"ReadCutShort",
     [](JsonCursor& cursor) {
       ScalarValue value;
       cursor.read_value(value, 3);
       return value.text;
     }},
    {"Members", read_members},
};

/// From a buffer that ends where the text does, so that a sanitizer sees who reads on. Pinned, all
/// of the text stays in the window, as an event does: the cursor knows the place of any fault.
Reading read(std::string_view text, const Way& way, bool pinned = false) {
  const std::unique_ptr<char[]> exact(new char[text.size()]);
  std::copy(text.begin(), text.end(), exact.get());
  ByteSource source(std::string_view(exact.get(), text.size()));
  Notes notes;
  JsonCursor cursor(source, notes);
  if (pinned) cursor.pin();
  Reading reading;
  try {
    reading.value = way.read(cursor);
  } catch (const SyntaxFault& fault) {
    reading.fault = fault;
    reading.place = cursor.place(fault.offset);
  }
  EXPECT_LE(cursor.offset(), text.size());
  reading.repairs = notes.total();
  return reading;
}

/// "LINE:COLUMN" of a byte, counted from the start.
std::string counted_place(std::string_view text, std::size_t offset) {
  const std::string_view before = text.substr(0, offset);
  const auto line = std::count(before.begin(), before.end(), '\n') + 1;
  const std::size_t newline = before.rfind('\n');
  const std::size_t column = newline == std::string_view::npos ? offset + 1 : offset - newline;
  return std::to_string(line) + ":" + std::to_string(column);
}

bool is_word(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '+' || c == '-' || c == '.';
  });
}

struct Document {
  const char* name;
  std::string text;
  std::string copy;      // as JSON without faults
  std::int64_t repairs;  // of the whole
};
std::ostream& operator<<(std::ostream& out, const Document& document) {
  return out << document.name;
}

const Document kDocuments[] = {
    {"EmptyObject", "{}", "{}", 0},
    {"BlanksAndLines", " \n[ 1 ,\r\n\t2 ]", "[1,2]", 0},
    {"Escapes", R"("\"\\\/\b\f\n\r\t")", R"("\"\\\/\b\f\n\r\t")", 0},
    {"CodesAndPairs", R"(["\u00e9\u20AC","\ud83d\ude00","\u0022\u0007"])",
     "[\"\xC3\xA9\xE2\x82\xAC\",\"\xF0\x9F\x98\x80\",\"\\u0022\\u0007\"]", 0},
    {"HalvesOfPairs", R"(["\ud83d","\ud83dx","\ud83d\u0041","\ude00"])",
     "[\"\xEF\xBF\xBD\",\"\xEF\xBF\xBDx\",\"\xEF\xBF\xBD"
     "A\",\"\xEF\xBF\xBD\"]",
     4},
    {"OtherEscapes", R"(["C:\qdir","\u12","\x41"])", R"(["C:\\qdir","\\u12","\\x41"])", 3},
    {"Numbers", "[0,-1,12.5,1e3,-2.5E-7,6e+2]", "[0,-1,12.5,1e3,-2.5E-7,6e+2]", 0},
    {"Literals", R"({"a":true,"b":false,"c":null,"d":-inf,"e":NaN})",
     R"({"a":true,"b":false,"c":null,"d":null,"e":null})", 2},
    {"Nesting", R"({"a":[{"b":[[],{}]},[1,[2]]],"c":{"d":{"e":"f"}}})",
     R"({"a":[{"b":[[],{}]},[1,[2]]],"c":{"d":{"e":"f"}}})", 0},
    {"TrailingCommas", R"({"a":[1,2,],"b":3,})", R"({"a":[1,2],"b":3})", 2},
    {"Bytes", "[\"g\xC3\xA9\xF0\x9F\x98\x80mm\",\"\xC0\xAF\",\"a\tb\x7F\"]",
     "[\"g\xC3\xA9\xF0\x9F\x98\x80mm\",\"\xEF\xBF\xBD\xEF\xBF\xBD\",\"a\\u0009b\x7F\"]", 3},
    {"BracketsInStrings", R"({"a]}":"[{,:\"]"})", R"({"a]}":"[{,:\"]"})", 0},
};

class CursorOver : public testing::TestWithParam<Document> {};

TEST_P(CursorOver, TheWholeIsReadAndRepaired) {
  const Document& document = GetParam();
  for (const Way& way : kWays) {
    const Reading whole = read(document.text, way);
    EXPECT_FALSE(whole.fault) << way.name << ": " << whole.fault->what();
    EXPECT_EQ(whole.repairs, document.repairs) << way.name;
  }
  EXPECT_EQ(read(document.text, kWays[1]).value, document.copy);
  EXPECT_TRUE(Json::accept(document.copy));
}

/// None of the documents can end earlier: every beginning is incomplete, not wrong. The fault is at
/// the end, or where the word at the end began; that has left the window if it wasn't pinned.
TEST_P(CursorOver, EveryBeginningIsIncomplete) {
  const std::string& text = GetParam().text;
  for (const Way& way : kWays)
    for (std::size_t size = 0; size < text.size(); ++size) {
      SCOPED_TRACE(std::string(way.name) + " of " + std::to_string(size) + " bytes");
      const std::string_view beginning = std::string_view(text).substr(0, size);
      for (const bool pinned : {false, true}) {
        const Reading cut = read(beginning, way, pinned);
        ASSERT_TRUE(cut.fault);
        EXPECT_TRUE(cut.fault->at_end) << cut.fault->what();
        ASSERT_LE(cut.fault->offset, size);
        EXPECT_TRUE(is_word(beginning.substr(cut.fault->offset))) << cut.fault->what();
        EXPECT_EQ(cut.place, counted_place(beginning, pinned ? cut.fault->offset : size));
      }
    }
}

/// The window of the cursor ends at every byte of the document in turn.
TEST_P(CursorOver, TheWindowsEndIsNotTheTexts) {
  constexpr std::size_t kWindow = 1 << 16;
  const std::string& text = GetParam().text;
  for (const Way& way : kWays) {
    const Reading plain = read(text, way);
    for (std::size_t ahead = 0; ahead <= text.size(); ++ahead) {
      const Reading moved = read(std::string(kWindow - ahead, ' ') + text, way);
      EXPECT_FALSE(moved.fault) << way.name << ", " << ahead << " bytes in the first window";
      EXPECT_EQ(moved.value, plain.value);
      EXPECT_EQ(moved.repairs, plain.repairs);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(, CursorOver, testing::ValuesIn(kDocuments),
                         [](const auto& test) { return test.param.name; });

/// JSON's grammar says whether the beginning of a bare scalar is a value of its own.
TEST(JsonCursor, BeginningsOfScalarsAreValuesOrIncomplete) {
  for (const std::string text : {"-12.5e+30", "0.25", "true", "false", "null"})
    for (const Way& way : kWays)
      for (std::size_t size = 0; size <= text.size(); ++size) {
        const std::string beginning = text.substr(0, size);
        const Reading reading = read(beginning, way);
        EXPECT_EQ(reading.fault == std::nullopt, Json::accept(beginning)) << beginning;
        if (!reading.fault) continue;
        EXPECT_TRUE(reading.fault->at_end) << beginning;
        EXPECT_EQ(reading.fault->offset, 0U) << beginning;
      }
}

struct Wrong {
  const char* text;
  std::uint64_t offset;
  const char* what;
};

TEST(JsonCursor, WhatIsWrongIsNotIncomplete) {
  const Wrong cases[] = {
      {"[1 2]", 3, "expected ',' or ']', found '2'"},
      {"{\"a\" 1}", 5, "expected ':', found '1'"},
      {"{a: 1}", 1, "expected a key in quotes, found 'a'"},
      {"{\"a\": 1]", 7, "expected ',' or '}', found ']'"},
      {"[,]", 1, "expected a value, found ','"},
      {"[1.]", 1, "expected a value, found '1.'"},
      {"[tru]", 1, "expected a value, found 'tru'"},
      {"[\x01]", 1, "expected a value, found byte 0x01"},
  };
  for (const Wrong& wrong : cases)
    for (const Way& way : {kWays[0], kWays[1], kWays[2]}) {
      const Reading reading = read(wrong.text, way);
      ASSERT_TRUE(reading.fault) << wrong.text;
      EXPECT_STREQ(reading.fault->what(), wrong.what);
      EXPECT_EQ(reading.fault->offset, wrong.offset) << wrong.text;
      EXPECT_FALSE(reading.fault->at_end) << wrong.text;
    }
}

}  // namespace
}  // namespace amsp
