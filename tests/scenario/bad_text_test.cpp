#include "scenario/scenario.h"
#include "tests/scenario/bad_scenario.h"

namespace amsp {
namespace {

struct BadText {
  const char* name;
  const char* text;
  const char* message;
};
void PrintTo(const BadText& test, std::ostream* out) {
  *out << test.name;
}
class BadTexts : public testing::TestWithParam<BadText> {};

TEST_P(BadTexts, AreRefusedWithTheirMessage) {
  const Outcome found = outcome_of_text(GetParam().text);
  EXPECT_EQ(found.message, GetParam().message);
  EXPECT_EQ(found.exit, kExitConfig);
}

INSTANTIATE_TEST_SUITE_P(
    , BadTexts,
    testing::Values(
        BadText{"Empty", "", "s.json: is empty"},
        BadText{"Array", "[]", "s.json#: must be an object, found []"},
        BadText{"DuplicateKey", R"({"training": {"micro_batches": 1, "micro_batches": 2}})",
                "s.json#/training/micro_batches: the key stands twice in its object"},
        BadText{"NaN", R"({"report": {"token_budget": NaN}})",
                "s.json:1:29: 'NaN' is not a number in JSON"},
        BadText{"Infinity", R"({"report": {"token_budget": -Infinity}})",
                "s.json:1:29: '-Infinity' is not a number in JSON"},
        BadText{"Overflow", R"({"report": {"token_budget": 1e999}})",
                "s.json:1:29: the number '1e999' is too large"},
        BadText{"Comment", "{} // later", "s.json:1:4: JSON has no comments, found '//'"},
        BadText{"TrailingComma", R"({"name": "x",})",
                "s.json:1:14: expected a key in double quotes, found '}'"},
        BadText{"NotUtf8", "{\"name\": \"\xff\"}", "s.json:1:11: byte 0xFF is not valid UTF-8"}),
    [](const auto& test) { return std::string(test.param.name); });

TEST(DeepNesting, OfArraysIsRefused) {
  const std::string text = std::string(200'000, '[') + std::string(200'000, ']');
  EXPECT_EQ(outcome_of_text(text).message, "s.json: is nested deeper than 64 levels");
}

TEST(DeepNesting, OfObjectsIsRefused) {
  std::string text;
  for (int level = 0; level < 200'000; ++level) text += R"({"model": )";
  EXPECT_EQ(outcome_of_text(text).message, "s.json: is nested deeper than 64 levels");
}

TEST(LoadScenario, NamesAFileThatIsNotThere) {
  try {
    load_scenario("/nowhere/s.json");
    ADD_FAILURE() << "was accepted";
  } catch (const ConfigError& error) {
    EXPECT_STREQ(error.what(), "/nowhere/s.json: cannot be read: No such file or directory");
  }
}

}  // namespace
}  // namespace amsp
