#include <gtest/gtest.h>

#include "tests/scenario/bad_scenario.h"

namespace amsp {
namespace {

/// The table is shared with schema_test.py, which asks the published JSON Schema the same.
TEST(Variations, AreAcceptedOrRefusedAsTheTableSays) {
  const Json table = read_json_file(data_folder() + "/../variations.json");
  for (const Json& variation : table) {
    SCOPED_TRACE(variation["name"]);
    Json scenario = read_json_file(data_folder() + "/" + variation["base"].get<std::string>());
    scenario.merge_patch(variation["patch"]);
    const Outcome outcome = outcome_of(scenario);
    EXPECT_EQ(outcome.exit, variation["accepted"] ? kExitOk : kExitConfig) << outcome.message;
  }
}

}  // namespace
}  // namespace amsp
