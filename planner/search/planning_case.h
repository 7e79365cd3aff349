#pragma once

#include <optional>
#include <string>

#include "core/json/json.h"
#include "scenario/scenario.h"

namespace amsp {

/// The question: a scenario whose plan is open. The scenario's own plan, if it has one, is
/// today's: a search marks it.
struct PlanningCase {
  Json json;  // as read, overrides included
  std::string file;
  Scenario scenario;                  // with plan ddp on the case's dp
  std::optional<ShardingPlan> today;  // absent if the scenario gives none
  std::string today_name;
};

/// As read_scenario, but the key "plan" may be absent, or have nothing but "dp".
PlanningCase read_planning_case(const Json& json, const std::string& file);

}  // namespace amsp
