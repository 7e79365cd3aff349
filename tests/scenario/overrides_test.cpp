#include <gtest/gtest.h>

#include <ostream>

#include "core/error.h"
#include "scenario/scenario.h"
#include "tests/scenario/bad_scenario.h"

namespace amsp {
namespace {

struct Override {
  const char* name;
  const char* assignment;
  const char* expected;  // the JSON then
};
void PrintTo(const Override& test, std::ostream* out) {
  *out << test.name;
}
class ApplyOverride : public testing::TestWithParam<Override> {};

constexpr const char* kBefore = R"({"a": {"b": 1, "l": [1, {"c": 2}]}, "t": "x"})";

TEST_P(ApplyOverride, SetsTheValue) {
  Json json = Json::parse(kBefore);
  apply_override(json, GetParam().assignment);
  EXPECT_EQ(json, Json::parse(GetParam().expected));
}

INSTANTIATE_TEST_SUITE_P(
    , ApplyOverride,
    testing::Values(
        Override{"Number", "a.b=8", R"({"a": {"b": 8, "l": [1, {"c": 2}]}, "t": "x"})"},
        Override{"Boolean", "a.b=false", R"({"a": {"b": false, "l": [1, {"c": 2}]}, "t": "x"})"},
        Override{"Text", "t=8x1", R"({"a": {"b": 1, "l": [1, {"c": 2}]}, "t": "8x1"})"},
        Override{"QuotedText", R"(t="8")", R"({"a": {"b": 1, "l": [1, {"c": 2}]}, "t": "8"})"},
        Override{"EmptyText", "t=", R"({"a": {"b": 1, "l": [1, {"c": 2}]}, "t": ""})"},
        Override{"TextWithEquals", "t=a=b", R"({"a": {"b": 1, "l": [1, {"c": 2}]}, "t": "a=b"})"},
        Override{"NoNumber", "t=NaN", R"({"a": {"b": 1, "l": [1, {"c": 2}]}, "t": "NaN"})"},
        Override{"Object", R"(a={"p": "1x1"})", R"({"a": {"p": "1x1"}, "t": "x"})"},
        Override{"NewObjects", "e.f.g=1",
                 R"({"a": {"b": 1, "l": [1, {"c": 2}]}, "t": "x", "e": {"f": {"g": 1}}})"},
        Override{"Element", "a.l.1.c=3", R"({"a": {"b": 1, "l": [1, {"c": 3}]}, "t": "x"})"},
        Override{"Removed", "a.b=null", R"({"a": {"l": [1, {"c": 2}]}, "t": "x"})"}),
    [](const auto& test) { return std::string(test.param.name); });

struct BadOverride {
  const char* name;
  const char* assignment;
  const char* message;
};
void PrintTo(const BadOverride& test, std::ostream* out) {
  *out << test.name;
}
class BadOverrides : public testing::TestWithParam<BadOverride> {};

TEST_P(BadOverrides, AreRefusedWithTheirMessage) {
  Json json = Json::parse(kBefore);
  try {
    apply_override(json, GetParam().assignment);
    ADD_FAILURE() << "was accepted";
  } catch (const ConfigError& error) {
    EXPECT_STREQ(error.what(), GetParam().message);
  }
}

INSTANTIATE_TEST_SUITE_P(
    , BadOverrides,
    testing::Values(
        BadOverride{"NoValue", "a.b",
                    "--set a.b: must be PATH=VALUE such as training.micro_batches=8"},
        BadOverride{"NoPath", "=8",
                    "--set =8: must be PATH=VALUE such as training.micro_batches=8"},
        BadOverride{"EmptyPart", "a..b=8", "--set a..b=8: the path has an empty part"},
        BadOverride{"EndsInADot", "a.b.=8", "--set a.b.=8: the path has an empty part"},
        BadOverride{"ThroughANumber", "a.b.c=8",
                    "--set a.b.c=8: 'a.b' is no object, it is 1; give it as an object first"},
        BadOverride{"ThroughAText", "t.c=8",
                    "--set t.c=8: 't' is no object, it is \"x\"; give it as an object first"},
        BadOverride{"NoSuchElement", "a.l.2=8",
                    "--set a.l.2=8: 'a.l' has 2 elements, counted from 0; there is no '2'"},
        BadOverride{"ElementByName", "a.l.last=8",
                    "--set a.l.last=8: 'a.l' has 2 elements, counted from 0; there is no 'last'"},
        BadOverride{"BrokenObject", R"(a={"p": 1x1})",
                    "--set a={\"p\": 1x1}:1:7: '1x1' is not a valid number"},
        BadOverride{"DuplicateKey", R"(a={"p": 1, "p": 2})",
                    "--set a={\"p\": 1, \"p\": 2}#/p: the key stands twice in its object"},
        BadOverride{"NothingToRemove", "a.x=null",
                    "--set a.x=null: there is no key 'a.x' to remove"},
        BadOverride{"ElementToRemove", "a.l.0=null",
                    "--set a.l.0=null: there is no key 'a.l.0' to remove"}),
    [](const auto& test) { return std::string(test.param.name); });

TEST(OverridePath, HasALimit) {
  std::string deep = "a";
  for (int step = 0; step < 200'000; ++step) deep += ".a";
  Json json = Json::object();
  EXPECT_THROW(apply_override(json, deep + "=1"), ConfigError);
}

TEST(LoadScenario, AppliesOverridesInOrder) {
  const std::string file = data_folder() + "/base.json";
  const Scenario scenario =
      load_scenario(file, {"training.global_batch=null", "training.micro_batches=4",
                           "training.micro_batches=8", "plan=mics-8", "engine.bucket=25MiB"});
  EXPECT_EQ(scenario.training.micro_batches, 8);
  EXPECT_EQ(scenario.plan_name, "mics-8");
  EXPECT_EQ(scenario.engine.bucket, 25_MiB);
}

TEST(LoadScenario, NamesTheKeyThatAnOverrideMadeWrong) {
  const std::string file = data_folder() + "/base.json";
  try {
    load_scenario(file, {"training.micro_bach=2"});
    ADD_FAILURE() << "was accepted";
  } catch (const ConfigError& error) {
    EXPECT_EQ(std::string(error.what()).substr(file.size()),
              "#/training/micro_bach: is not a known key; did you mean 'micro_batch'? (allowed: "
              "clip_gradients, global_batch, micro_batch, micro_batches, optimizer, precision, "
              "recompute, sequence_length)");
  }
}

}  // namespace
}  // namespace amsp
