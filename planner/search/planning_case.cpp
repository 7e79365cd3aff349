#include "planner/search/planning_case.h"

namespace amsp {

namespace {

/// A plan on the same dp that every cluster and model allows.
Json without_plan(const Json& json) {
  Json result = json;
  if (!json.is_object()) return result;
  const auto plan = json.find("plan");
  result["plan"] = Json{{"name", "ddp"}};
  if (plan != json.end() && plan->is_object() && plan->contains("dp"))
    result["plan"]["dp"] = (*plan)["dp"];
  return result;
}

bool gives_plan(const Json& json) {
  if (!json.contains("plan")) return false;
  const Json& plan = json["plan"];
  return !plan.is_object() || plan.size() != 1 || !plan.contains("dp");
}

}  // namespace

PlanningCase read_planning_case(const Json& json, const std::string& file) {
  PlanningCase result{json, file, read_scenario(without_plan(json), file), std::nullopt, ""};
  if (gives_plan(json)) {
    const Scenario given = read_scenario(json, file);
    result.today = given.plan;
    result.today_name = given.plan_name;
  }
  return result;
}

}  // namespace amsp
