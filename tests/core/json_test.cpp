#include "core/json/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <vector>

#include "core/error.h"
#include "tests/core/message_of.h"

namespace amsp {
namespace {

std::string repeat(const std::string& part, int count) {
  std::string result;
  for (int i = 0; i < count; ++i) result += part;
  return result;
}

TEST(ParseJson, KeepsEveryKindOfValue) {
  const Json json = parse_json(
      R"( {"null": null, "yes": true, "no": false, "int": -3, "big": 18446744073709551615,
           "real": 2.5e3, "text": "a\n\u00e9\ud83d\ude00", "list": [1, [], {}], "": 0} )",
      "f.json");
  EXPECT_TRUE(json["null"].is_null());
  EXPECT_EQ(json["yes"], true);
  EXPECT_EQ(json["no"], false);
  EXPECT_EQ(json["int"], -3);
  EXPECT_EQ(json["big"], 18446744073709551615U);
  EXPECT_EQ(json["real"], 2500.0);
  EXPECT_EQ(json["text"], "a\n\xC3\xA9\xF0\x9F\x98\x80");
  EXPECT_EQ(json["list"], Json::array({1, Json::array(), Json::object()}));
  EXPECT_EQ(json[""], 0);
}

TEST(ParseJson, TakesAnyValueAtTheTop) {
  EXPECT_EQ(parse_json("7", "f.json"), 7);
  EXPECT_EQ(parse_json("\"x\"", "f.json"), "x");
  EXPECT_EQ(parse_json("[]", "f.json"), Json::array());
}

TEST(ParseJson, SkipsAByteOrderMark) {
  EXPECT_EQ(parse_json("\xEF\xBB\xBF{}", "f.json"), Json::object());
  EXPECT_EQ(message_of([] { parse_json("\xEF\xBB\xBF!", "f.json"); }),
            "f.json:1:1: expected a value, found '!'");
}

TEST(ParseJson, SameKeyInDifferentObjectsIsFine) {
  EXPECT_EQ(parse_json(R"({"a": {"a": 1}, "b": [{"a": 1}, {"a": 1}]})", "f.json").size(), 2U);
}

struct BadText {
  const char* name;
  std::string text;
  const char* message;  // the whole message: its wording is part of the interface
};

std::ostream& operator<<(std::ostream& out, const BadText& tested) {
  return out << tested.name;
}

class BadJson : public testing::TestWithParam<BadText> {};

TEST_P(BadJson, IsRefusedWithItsPlace) {
  const auto& [name, text, message] = GetParam();
  EXPECT_EQ(message_of([&text = text] { parse_json(text, "f.json"); }), message);
}

std::string name_of(const testing::TestParamInfo<BadText>& info) {
  return info.param.name;
}

INSTANTIATE_TEST_SUITE_P(
    Structure, BadJson,
    testing::Values(
        BadText{"Empty", "", "f.json: is empty"}, BadText{"Blank", " \t\r\n", "f.json: is empty"},
        BadText{"OpenObject", "{",
                "f.json:1:2: expected a key in double quotes or '}', found "
                "the end of the text"},
        BadText{"OpenArray", "[", "f.json:1:2: expected a value or ']', found the end of the text"},
        BadText{"NoColon", R"({"a" 1})", "f.json:1:6: expected ':', found '1'"},
        BadText{"NoColonAtEnd", R"({"a")", "f.json:1:5: expected ':', found the end of the text"},
        BadText{"ColonTwice", R"({"a":: 1})", "f.json:1:6: expected a value, found ':'"},
        BadText{"NoValue", R"({"a": })", "f.json:1:7: expected a value, found '}'"},
        BadText{"NoValueAtEnd", R"({"a": )",
                "f.json:1:7: expected a value, found the end of the text"},
        BadText{"NoCommaInObject", "{\"a\": 1\n \"b\": 2}",
                "f.json:2:2: expected ',' or '}', found \"b\""},
        BadText{"NoCommaInArray", "[1 2]", "f.json:1:4: expected ',' or ']', found '2'"},
        BadText{"TrailingCommaInObject", R"({"a": 1,})",
                "f.json:1:9: expected a key in double quotes, found '}'"},
        BadText{"TrailingCommaInArray", "[1,]", "f.json:1:4: expected a value, found ']'"},
        BadText{"LeadingComma", "[,1]", "f.json:1:2: expected a value or ']', found ','"},
        BadText{"WrongBracket", "[1}", "f.json:1:3: expected ',' or ']', found '}'"},
        BadText{"WrongBrace", R"({"a": 1])", "f.json:1:8: expected ',' or '}', found ']'"},
        BadText{"BareKey", "{nodes: 1}",
                "f.json:1:2: expected a key in double quotes or '}', found 'nodes'"},
        BadText{"NumberAsKey", R"({"a": 1, 2: 3})",
                "f.json:1:10: expected a key in double quotes, found '2'"},
        BadText{"OpenAfterValue", R"({"a": [1, 2)",
                "f.json:1:12: expected ',' or ']', found the end of the text"},
        BadText{"TwoValues", "{}\n{}", "f.json:2:1: expected the end of the text, found '{'"},
        BadText{"BraceTooMany", "[]]", "f.json:1:3: expected the end of the text, found ']'"},
        BadText{"StringAfterTheEnd", R"(1 "ab\q")",
                "f.json:1:3: expected the end of the text, found \"ab\\q\""},
        BadText{"LongFind", "[1 \"" + repeat("x", 50) + "\"]",
                "f.json:1:4: expected ',' or ']', found "
                "\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx..."}),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    Words, BadJson,
    testing::Values(
        BadText{"Nonsense", "[hello]", "f.json:1:2: expected a value or ']', found 'hello'"},
        BadText{"CutLiteral", R"({"a": tru)",
                "f.json:1:7: expected a value, found 'tru'; did you mean 'true'?"},
        BadText{"CutLiteralBeforeAMark", "[1, fals]",
                "f.json:1:5: expected a value, found 'fals'; did you mean 'false'?"},
        BadText{"CutLiteralBeforeABlank", "nul \n",
                "f.json:1:1: expected a value, found 'nul'; did you mean 'null'?"},
        BadText{"PythonTrue", R"({"a": True})",
                "f.json:1:7: expected a value, found 'True'; did you mean 'true'?"},
        BadText{"RunTogether", "[truefalse]",
                "f.json:1:2: expected a value or ']', found 'truefalse'"},
        BadText{"LineComment", "{\n  // why\n}", "f.json:2:3: JSON has no comments, found '//'"},
        BadText{"BlockComment", "[1, /* two */ 2]", "f.json:1:5: JSON has no comments, found '/*'"},
        BadText{"SingleQuotes", "['a']", "f.json:1:2: a string needs double quotes, found ''a''"},
        BadText{"ControlCharacter", "[\x01]",
                "f.json:1:2: expected a value or ']', found '\\u0001'"},
        BadText{"SmartQuotes",
                "[\xE2\x80\x9C"
                "a\xE2\x80\x9D]",
                "f.json:1:2: expected a value or ']', found '\xE2\x80\x9C"
                "a\xE2\x80\x9D'"},
        BadText{"ColumnCountsCodePoints", "[\"\xC3\xA9\xC3\xA9\" x]",
                "f.json:1:7: expected ',' or ']', found 'x'"}),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    Numbers, BadJson,
    testing::Values(
        BadText{"NaN", "[NaN]", "f.json:1:2: 'NaN' is not a number in JSON"},
        BadText{"LowerNan", "[nan]", "f.json:1:2: 'nan' is not a number in JSON"},
        BadText{"Infinity", R"({"a": Infinity})", "f.json:1:7: 'Infinity' is not a number in JSON"},
        BadText{"MinusInfinity", R"({"a": -Infinity})",
                "f.json:1:7: '-Infinity' is not a number in JSON"},
        BadText{"Overflow", R"({"a": 1e999})", "f.json:1:7: the number '1e999' is too large"},
        BadText{"NegativeOverflow", "[0,\n-1e999]", "f.json:2:1: the number '-1e999' is too large"},
        BadText{"OverflowAtTheEnd", "1e999", "f.json:1:1: the number '1e999' is too large"},
        BadText{"LoneMinus", "-", "f.json:1:1: '-' is not a valid number"},
        BadText{"Plus", "[+1]", "f.json:1:2: '+1' is not a valid number"},
        BadText{"LeadingZero", "[01]", "f.json:1:2: '01' is not a valid number"},
        BadText{"LeadingPoint", "[.5]", "f.json:1:2: '.5' is not a valid number"},
        BadText{"TrailingPoint", "[1.]", "f.json:1:2: '1.' is not a valid number"},
        BadText{"NoExponent", "[1e]", "f.json:1:2: '1e' is not a valid number"},
        BadText{"Hexadecimal", "[0x10]", "f.json:1:2: '0x10' is not a valid number"},
        BadText{"BareUnit", R"({"a": 80GiB})", "f.json:1:7: '80GiB' is not a valid number"}),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    Strings, BadJson,
    testing::Values(
        BadText{"OpenString", R"(["abc)", "f.json:1:2: the string is not closed"},
        BadText{"OpenKey", R"({"ab)", "f.json:1:2: the string is not closed"},
        BadText{"EndsInEscape", R"(["abc\)", "f.json:1:2: the string is not closed"},
        BadText{"LineBreak", "{\"a\": \"b,\n\"c\": 1}",
                "f.json:1:7: the string is not closed on its line (a line break is written \\n)"},
        BadText{"Tab", "[\"a\tb\"]",
                "f.json:1:4: a string cannot hold the control character U+0009"},
        BadText{"BadEscape", R"(["a\q"])", "f.json:1:5: bad escape in a string"},
        BadText{"BadHexDigit", R"(["\u12g4"])", "f.json:1:7: bad escape in a string"},
        BadText{"LoneSurrogate", R"(["\ud800"])", "f.json:1:9: bad escape in a string"}),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    Bytes, BadJson,
    testing::Values(
        BadText{"Utf8InString", "[\"a\xFF\"]", "f.json:1:4: byte 0xFF is not valid UTF-8"},
        BadText{"Utf8CutShort", "[\"\xC3\"]", "f.json:1:3: byte 0xC3 is not valid UTF-8"},
        BadText{"Utf8OutsideString", "[1]\n\x80", "f.json:2:1: byte 0x80 is not valid UTF-8"},
        // nlohmann takes a NUL byte for the end and would accept the first of these
        BadText{"NulAfterTheEnd", std::string("{}\0]", 4), "f.json:1:3: found a NUL byte"},
        BadText{"NulInString", std::string("[\"\0\"]", 5), "f.json:1:3: found a NUL byte"}),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    Keys, BadJson,
    testing::Values(
        BadText{"Twice", R"({"a": 1, "a": 1})", "f.json#/a: the key stands twice in its object"},
        BadText{"TwiceWithAnEscape", R"({"a": 1, "\u0061": 1})",
                "f.json#/a: the key stands twice in its object"},
        BadText{"TwiceInside", R"({"x": 0, "b": [0, {"c": {}, "d": 1, "c": 2}]})",
                "f.json#/b/1/c: the key stands twice in its object"},
        BadText{"TwiceAfterClosedSiblings", R"([[[1], {"p": 0}], {"q": [2]}, [{"r": 1, "r": 2}]])",
                "f.json#/2/0/r: the key stands twice in its object"},
        BadText{"PointerEscapes", R"({"a/b": {"~": 1, "~": 2}})",
                "f.json#/a~1b/~0: the key stands twice in its object"},
        BadText{"EmptyKey", R"({"": 1, "": 2})", "f.json#/: the key stands twice in its object"}),
    name_of);

TEST(ParseJson, TakesDepth64AndNoMore) {
  EXPECT_NO_THROW(parse_json(repeat("[", 64) + repeat("]", 64), "f.json"));
  EXPECT_NO_THROW(parse_json(repeat("{\"a\":", 64) + "1" + repeat("}", 64), "f.json"));
  const std::string message = "f.json: is nested deeper than 64 levels";
  for (const int depth : {65, 200'000}) {
    const std::string arrays = repeat("[", depth);
    EXPECT_EQ(message_of([&] { parse_json(arrays + repeat("]", depth), "f.json"); }), message);
    EXPECT_EQ(message_of([&] { parse_json(arrays, "f.json"); }), message);
    EXPECT_EQ(message_of([&] { parse_json(repeat("{\"a\":", depth), "f.json"); }), message);
    EXPECT_EQ(message_of([&] { parse_json(repeat("[{\"a\":", depth), "f.json"); }), message);
  }
}

TEST(ParseJson, WidthIsNoDepth) {
  EXPECT_EQ(parse_json("[" + repeat("[[]],", 1000) + "{}]", "f.json").size(), 1001U);
}

const std::string kSmallText =
    "{\"a\": [1, -2.5e3, {\"b\": null}],\n \"c\\\"\\u00e9\": \"x\xC3\xA9\", \"d\": true, \"e\": "
    "{}}";

TEST(ParseJson, EveryTruncationIsRefused) {
  ASSERT_NO_THROW(parse_json(kSmallText, "f.json"));
  for (std::size_t size = 0; size < kSmallText.size(); ++size) {
    const std::string text = kSmallText.substr(0, size);
    SCOPED_TRACE(text);
    EXPECT_THAT(message_of([&] { parse_json(text, "f.json"); }), testing::StartsWith("f.json"));
  }
}

// A wrong byte may leave valid JSON, but nothing except ConfigError may come of it.
TEST(ParseJson, EveryWrongByteIsRefusedOrRead) {
  int accepted = 0;
  for (std::size_t at = 0; at < kSmallText.size(); ++at) {
    for (int byte = 0; byte < 256; ++byte) {
      std::string text = kSmallText;
      text[at] = char(byte);
      if (message_of([&] { parse_json(text, "f.json"); }) == "(accepted)") ++accepted;
    }
  }
  EXPECT_GT(accepted, 0);
}

/// Every text of up to five characters of the alphabet (111,111 of them) must be accepted by us
/// exactly if nlohmann's own parser accepts it, and give the same value.
TEST(ParseJson, AgreesWithTheReferenceOnAllShortTexts) {
  const std::string alphabet = "{}[]:,\"1-e";
  std::vector<std::string> texts = {""};
  int accepted = 0;
  for (std::size_t next = 0; next < texts.size(); ++next) {
    const std::string text = texts[next];
    if (text.size() < 5)
      for (const char c : alphabet) texts.push_back(text + c);
    const Json reference = Json::parse(text, nullptr, false);
    Json ours(Json::value_t::discarded);
    message_of([&] { ours = parse_json(text, "f.json"); });
    ASSERT_EQ(ours.is_discarded(), reference.is_discarded()) << text;
    if (ours.is_discarded()) continue;
    ++accepted;
    ASSERT_EQ(ours, reference) << text;
  }
  EXPECT_EQ(texts.size(), 111'111U);
  EXPECT_GT(accepted, 100);
}

}  // namespace
}  // namespace amsp
