#include "tests/scenario/bad_scenario.h"

#include <filesystem>
#include <functional>

#include "scenario/scenario.h"

namespace amsp {
namespace {

Outcome outcome(const std::function<void()>& read) {
  std::filesystem::current_path(data_folder());
  try {
    read();
  } catch (const ConfigError& error) {
    return {error.what(), kExitConfig};
  } catch (const InfeasibleError& error) {
    return {error.what(), kExitInfeasible};
  }
  return {};
}

}  // namespace

std::string data_folder() {
  return AMSP_SOURCE_DIR "/tests/scenario/data";
}

Json base_scenario() {
  return read_json_file(data_folder() + "/base.json");
}

Outcome outcome_of(const Json& scenario) {
  return outcome([&] { read_scenario(scenario, "s.json"); });
}

Outcome outcome_of_text(const std::string& text) {
  return outcome([&] { read_scenario(parse_json(text, "s.json"), "s.json"); });
}

void expect_refused(const BadScenario& bad) {
  Json scenario = base_scenario();
  scenario.merge_patch(parse_json(bad.patch, "the patch"));
  const Outcome found = outcome_of(scenario);
  EXPECT_EQ(found.message, bad.message);
  EXPECT_EQ(found.exit, bad.exit);
}

}  // namespace amsp
