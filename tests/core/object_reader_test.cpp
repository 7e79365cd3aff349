#include "core/json/object_reader.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <limits>
#include <ostream>
#include <string>

#include "core/error.h"
#include "core/json/json.h"
#include "tests/core/message_of.h"

namespace amsp {
namespace {

constexpr std::int64_t kMaxInt = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMinInt = std::numeric_limits<std::int64_t>::min();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(ObjectReader, ReadsEveryKind) {
  const Json json = parse_json(R"({
      "name": "a100", "on": true, "nodes": 8, "ratio": 0.5, "whole": 2,
      "memory": "80GiB", "link": "200Gbps", "latency": "3us", "peak": "312TFLOPS",
      "mode": "full", "inner": {"deep": {"x": 1}}, "list": [1, 2]})",
                               "s.json");
  ObjectReader reader(json, "s.json#");
  EXPECT_EQ(reader.string("name"), "a100");
  EXPECT_EQ(reader.boolean("on"), true);
  EXPECT_EQ(reader.integer("nodes", 1, 8), 8);
  EXPECT_EQ(reader.number("ratio", 0, 1), 0.5);
  EXPECT_EQ(reader.number("whole", 2, 2), 2.0);
  EXPECT_EQ(reader.bytes("memory"), 80_GiB);
  EXPECT_EQ(reader.bandwidth("link"), 25_GBps);
  EXPECT_EQ(reader.time("latency"), 3_us);
  EXPECT_EQ(reader.flop_rate("peak"), 312_TFLOPS);
  EXPECT_EQ(reader.choice("mode", {"none", "full"}), "full");
  ObjectReader inner = reader.object("inner");
  EXPECT_EQ(inner.where(), "s.json#/inner");
  EXPECT_EQ(inner.object("deep").where("x"), "s.json#/inner/deep/x");
  EXPECT_EQ(reader.value("list").size(), 2U);
  EXPECT_NO_THROW(reader.finish());
  EXPECT_NO_THROW(inner.finish());
}

TEST(ObjectReader, FallbacksStandInForAbsentKeysOnly) {
  const Json empty = Json::object();
  ObjectReader absent(empty, "s.json#");
  EXPECT_EQ(absent.string_or("s", "x"), "x");
  EXPECT_EQ(absent.boolean_or("b", true), true);
  EXPECT_EQ(absent.integer_or("i", 1, 2, 7), 7);
  EXPECT_EQ(absent.bytes_or("m", 1_GiB), 1_GiB);
  EXPECT_EQ(absent.choice_or("c", {"a", "b"}, "a"), "a");

  const Json json =
      parse_json(R"({"s": "y", "b": false, "i": 2, "m": "2GiB", "c": "b"})", "s.json");
  ObjectReader present(json, "s.json#");
  EXPECT_EQ(present.string_or("s", "x"), "y");
  EXPECT_EQ(present.boolean_or("b", true), false);
  EXPECT_EQ(present.integer_or("i", 1, 2, 1), 2);
  EXPECT_EQ(present.bytes_or("m", 1_GiB), 2_GiB);
  EXPECT_EQ(present.choice_or("c", {"a", "b"}, "a"), "b");
  EXPECT_NO_THROW(present.finish());
}

TEST(ObjectReader, WholeNumbersInAnySpelling) {
  const Json json = parse_json(
      R"({"a": 8.0, "b": 8e0, "c": -9223372036854775808, "d": 9223372036854775807, "e": -0})",
      "s.json");
  ObjectReader reader(json, "s.json#");
  EXPECT_EQ(reader.integer("a", 1, 8), 8);
  EXPECT_EQ(reader.integer("b", 1, 8), 8);
  EXPECT_EQ(reader.integer("c", kMinInt, 0), kMinInt);
  EXPECT_EQ(reader.integer("d", 0, kMaxInt), kMaxInt);
  EXPECT_EQ(reader.integer("e", 0, 0), 0);
}

struct BadObject {
  const char* name;
  const char* json;
  std::function<void(ObjectReader&)> read;
  const char* message;  // the whole message: its wording is part of the interface
};

std::ostream& operator<<(std::ostream& out, const BadObject& tested) {
  return out << tested.name;
}

class BadInput : public testing::TestWithParam<BadObject> {};

TEST_P(BadInput, IsRefusedWithItsPlace) {
  const BadObject& bad = GetParam();
  const Json json = parse_json(bad.json, "s.json");
  const auto read = [&] {
    ObjectReader reader(json, "s.json#/p");
    bad.read(reader);
    reader.finish();
  };
  EXPECT_EQ(message_of(read), bad.message);
}

std::string name_of(const testing::TestParamInfo<BadObject>& info) {
  return info.param.name;
}

void read_nodes(ObjectReader& reader) {
  reader.integer("nodes", 1, 8);
}
void read_mode(ObjectReader& reader) {
  reader.choice("mode", {"none", "full"});
}
void read_ratio(ObjectReader& reader) {
  reader.number("ratio", 0, 1);
}
void read_nothing(ObjectReader&) {}

INSTANTIATE_TEST_SUITE_P(
    Scalars, BadInput,
    testing::Values(
        BadObject{"NoObject", "[1]", read_nothing, "s.json#/p: must be an object, found [1]"},
        BadObject{"NoString", R"({"a": 8})", [](auto& r) { r.string("a"); },
                  "s.json#/p/a: must be a string, found 8"},
        BadObject{"NullIsPresent", R"({"a": null})", [](auto& r) { r.string_or("a", "x"); },
                  "s.json#/p/a: must be a string, found null"},
        BadObject{"NoBoolean", R"({"a": "yes"})", [](auto& r) { r.boolean("a"); },
                  "s.json#/p/a: must be true or false, found \"yes\""},
        BadObject{"OneIsNoBoolean", R"({"a": 1})", [](auto& r) { r.boolean_or("a", true); },
                  "s.json#/p/a: must be true or false, found 1"},
        BadObject{"NestedNoObject", R"({"a": "b"})", [](auto& r) { r.object("a"); },
                  "s.json#/p/a: must be an object, found \"b\""},
        BadObject{"EscapedPointer", R"({"a/b~c": 1})", [](auto& r) { r.string("a/b~c"); },
                  "s.json#/p/a~1b~0c: must be a string, found 1"},
        BadObject{"OwnWords", R"({"a": 1})", [](auto& r) { r.fail("a", "must be even"); },
                  "s.json#/p/a: must be even"},
        BadObject{"OwnWordsOfTheObject", R"({"a": 1})", [](auto& r) { r.fail("is too much"); },
                  "s.json#/p: is too much"}),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    Integers, BadInput,
    testing::Values(BadObject{"Text", R"({"nodes": "8"})", read_nodes,
                              "s.json#/p/nodes: must be a whole number from 1 to 8, found \"8\""},
                    BadObject{"TooSmall", R"({"nodes": 0})", read_nodes,
                              "s.json#/p/nodes: must be a whole number from 1 to 8, found 0"},
                    BadObject{"TooLarge", R"({"nodes": 9})", read_nodes,
                              "s.json#/p/nodes: must be a whole number from 1 to 8, found 9"},
                    BadObject{"Fraction", R"({"nodes": 7.5})", read_nodes,
                              "s.json#/p/nodes: must be a whole number from 1 to 8, found 7.5"},
                    BadObject{"Boolean", R"({"nodes": true})", read_nodes,
                              "s.json#/p/nodes: must be a whole number from 1 to 8, found true"},
                    BadObject{"HugeReal", R"({"nodes": 1e300})", read_nodes,
                              "s.json#/p/nodes: must be a whole number from 1 to 8, found 1e+300"},
                    BadObject{"PastInt64", R"({"a": 9223372036854775808})",
                              [](auto& r) { r.integer("a", kMinInt, kMaxInt); },
                              "s.json#/p/a: must be a whole number from -9223372036854775808 to "
                              "9223372036854775807, found 9223372036854775808"},
                    BadObject{
                        "RealPastInt64", R"({"a": 9223372036854775808.0})",
                        [](auto& r) { r.integer("a", 0, kMaxInt); },
                        "s.json#/p/a: must be a whole number from 0 to 9223372036854775807, found "
                        "9.223372036854776e+18"},
                    BadObject{"FallbackDoesNotHideIt", R"({"a": 3})",
                              [](auto& r) { r.integer_or("a", 1, 2, 1); },
                              "s.json#/p/a: must be a whole number from 1 to 2, found 3"}),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    Numbers, BadInput,
    testing::Values(
        BadObject{"TooLarge", R"({"ratio": 1.5})", read_ratio,
                  "s.json#/p/ratio: must be a number from 0 to 1, found 1.5"},
        BadObject{"TooSmall", R"({"ratio": -1})", read_ratio,
                  "s.json#/p/ratio: must be a number from 0 to 1, found -1"},
        BadObject{"Text", R"({"ratio": "0.5"})", read_ratio,
                  "s.json#/p/ratio: must be a number from 0 to 1, found \"0.5\""},
        BadObject{"Boolean", R"({"ratio": true})", read_ratio,
                  "s.json#/p/ratio: must be a number from 0 to 1, found true"},
        BadObject{"NoUpperBound", R"({"a": -1})", [](auto& r) { r.number("a", 0.5, kInfinity); },
                  "s.json#/p/a: must be a number of at least 0.5, found -1"},
        BadObject{"NoLowerBound", R"({"a": 1})", [](auto& r) { r.number("a", -kInfinity, 0); },
                  "s.json#/p/a: must be a number of at most 0, found 1"},
        BadObject{"NoBounds", R"({"a": []})", [](auto& r) { r.number("a", -kInfinity, kInfinity); },
                  "s.json#/p/a: must be a number, found []"}),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    Quantities, BadInput,
    testing::Values(
        BadObject{"BareBytes", R"({"a": 80})", [](auto& r) { r.bytes("a"); },
                  "s.json#/p/a: must be a size with a unit such as \"80GiB\" or \"1.5MB\", "
                  "found 80"},
        BadObject{"BareBandwidth", R"({"a": 200})", [](auto& r) { r.bandwidth("a"); },
                  "s.json#/p/a: must be a bandwidth with a unit such as \"200Gbps\" or "
                  "\"25GBps\", found 200"},
        BadObject{"BareTime", R"({"a": 3e-6})", [](auto& r) { r.time("a"); },
                  "s.json#/p/a: must be a time with a unit such as \"3us\" or \"1.5ms\", "
                  "found 3e-06"},
        BadObject{"BareFlopRate", R"({"a": 312})", [](auto& r) { r.flop_rate("a"); },
                  "s.json#/p/a: must be a flop rate with a unit such as \"312TFLOPS\" or "
                  "\"1PFLOP/s\", found 312"},
        BadObject{"BitsAsBytes", R"({"a": "80Gib"})", [](auto& r) { r.bytes_or("a", Bytes{1}); },
                  "s.json#/p/a: must be a size with a unit such as \"80GiB\" or \"1.5MB\", "
                  "found \"80Gib\""},
        BadObject{"MisspeltBandwidth", R"({"a": "200 gbps"})", [](auto& r) { r.bandwidth("a"); },
                  "s.json#/p/a: must be a bandwidth with a unit such as \"200Gbps\" or "
                  "\"25GBps\", found \"200 gbps\""},
        BadObject{"NegativeTime", R"({"a": "-3us"})", [](auto& r) { r.time("a"); },
                  "s.json#/p/a: must be a time with a unit such as \"3us\" or \"1.5ms\", "
                  "found \"-3us\""},
        BadObject{"NumberInQuotes", R"({"a": "312"})", [](auto& r) { r.flop_rate("a"); },
                  "s.json#/p/a: must be a flop rate with a unit such as \"312TFLOPS\" or "
                  "\"1PFLOP/s\", found \"312\""}),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    Choices, BadInput,
    testing::Values(
        BadObject{"Near", R"({"mode": "ful"})", read_mode,
                  "s.json#/p/mode: must be one of none, full; found \"ful\"; did you mean "
                  "'full'?"},
        BadObject{"CaseMatters", R"({"mode": "Full"})", read_mode,
                  "s.json#/p/mode: must be one of none, full; found \"Full\"; did you mean "
                  "'full'?"},
        BadObject{"Far", R"({"mode": "selective"})", read_mode,
                  "s.json#/p/mode: must be one of none, full; found \"selective\""},
        BadObject{"NoText", R"({"mode": true})", read_mode,
                  "s.json#/p/mode: must be one of none, full; found true"},
        BadObject{"FallbackDoesNotHideIt", R"({"mode": null})",
                  [](auto& r) {
                    r.choice_or("mode", {"none", "full"}, "none");
                  },
                  "s.json#/p/mode: must be one of none, full; found null"}),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    Keys, BadInput,
    testing::Values(
        BadObject{"Missing", "{}", read_nodes, "s.json#/p/nodes: is missing"},
        BadObject{"MissingValue", "{}", [](auto& r) { r.value("a"); }, "s.json#/p/a: is missing"},
        BadObject{"MissingObject", "{}", [](auto& r) { r.object("a"); }, "s.json#/p/a: is missing"},
        BadObject{"MissingButMisspelt", R"({"gpu": 1, "noodes": 2})", read_nodes,
                  "s.json#/p/nodes: is missing; is 'noodes' a misspelling of it?"},
        BadObject{"MissingAndNothingNear", R"({"gpu": 1, "links": 2})", read_nodes,
                  "s.json#/p/nodes: is missing"},
        // a key already read is no misspelling, however near
        BadObject{"MissingBesideAKnownKey", R"({"node": 1})",
                  [](auto& r) {
                    r.value("node");
                    r.value("nodes");
                  },
                  "s.json#/p/nodes: is missing"},
        // short keys are all near each other
        BadObject{"MissingShortKey", R"({"pp": 1})", [](auto& r) { r.integer("tp", 1, 8); },
                  "s.json#/p/tp: is missing"},
        BadObject{"UnknownAndNear", R"({"gpu": 1, "noodes": 2})",
                  [](auto& r) {
                    r.value("gpu");
                    r.integer_or("nodes", 1, 8, 1);
                  },
                  "s.json#/p/noodes: is not a known key; did you mean 'nodes'? (allowed: gpu, "
                  "nodes)"},
        BadObject{"UnknownAndFar", R"({"nodes": 1, "bandwidth": 2})", read_nodes,
                  "s.json#/p/bandwidth: is not a known key (allowed: nodes)"},
        BadObject{"UnknownAndNoneAllowed", R"({"a": 1})", read_nothing,
                  "s.json#/p/a: is not a known key (allowed: none)"},
        BadObject{"FirstInAlphabet", R"({"z": 1, "x": 2, "y": 3})", [](auto& r) { r.has("nodes"); },
                  "s.json#/p/x: is not a known key (allowed: nodes)"}),
    name_of);

TEST(ObjectReader, AllowAndHasMakeAKeyKnown) {
  const Json json = parse_json(R"({"a": 1, "b": 2})", "s.json");
  ObjectReader reader(json, "s.json#");
  EXPECT_TRUE(reader.has("a"));
  EXPECT_FALSE(reader.has("c"));
  EXPECT_EQ(message_of([&] { reader.finish(); }),
            "s.json#/b: is not a known key; did you mean 'a'? (allowed: a, c)");
  reader.allow("b");
  EXPECT_NO_THROW(reader.finish());
}

TEST(ObjectReader, PlacesHavePointerEscapes) {
  const Json json = Json::object();
  const ObjectReader reader(json, "s.json#/p");
  EXPECT_EQ(reader.where(), "s.json#/p");
  EXPECT_EQ(reader.where("a/b~c"), "s.json#/p/a~1b~0c");
  EXPECT_EQ(reader.where(""), "s.json#/p/");
}

TEST(Describe, IsShort) {
  EXPECT_EQ(describe(nullptr), "null");
  EXPECT_EQ(describe("a\"b\n"), R"("a\"b\n")");
  EXPECT_EQ(describe(Json({{"b", 1}, {"a", {1, 2}}})), R"({"a":[1,2],"b":1})");
  EXPECT_EQ(describe(std::string(38, 'x')), "\"" + std::string(38, 'x') + "\"");
  EXPECT_EQ(describe(std::string(39, 'x')), "\"" + std::string(36, 'x') + "...");
  EXPECT_EQ(describe("\xFF"), "\"\xEF\xBF\xBD\"");  // U+FFFD in place of the bad byte
}

}  // namespace
}  // namespace amsp
