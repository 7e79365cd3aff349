#include "trace_report/plan_points.h"

#include <fmt/format.h>

#include "core/error.h"
#include "core/json/json.h"

namespace amsp {
namespace {

std::string plan_name(const Json& entry) {
  std::string name;
  if (const auto known = entry.find("known_as"); known != entry.end() && known->is_array())
    for (const Json& word : *known)
      if (word.is_string()) name += (name.empty() ? "" : ", ") + word.get<std::string>();
  const auto plan = entry.find("plan");
  if (plan == entry.end() || !plan->is_object()) return name;
  std::string meshes;
  for (const char* part : {"p", "g", "os"})
    meshes += fmt::format("{}{} {}", meshes.empty() ? "" : ", ", part, plan->value(part, "?"));
  return name.empty() ? meshes : fmt::format("{} ({})", name, meshes);
}

double number(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number() ? found->get<double>() : 0;
}

}  // namespace

OrderedJson plan_points(std::string_view lines, const std::string& file) {
  OrderedJson points = {{"candidates", OrderedJson::array()}, {"cases", OrderedJson::array()}};
  int line = 0;
  while (!lines.empty()) {
    ++line;
    const auto end = lines.find('\n');
    const std::string_view text = lines.substr(0, end);
    lines.remove_prefix(end == std::string_view::npos ? lines.size() : end + 1);
    if (text.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    const Json json = parse_json(text, fmt::format("{} line {}", file, line));
    if (!json.is_object() || json.value("schema", Json()) != "amsp.plan/1")
      throw ConfigError(
          fmt::format("{}:{}: must be a line of a planner's output (schema "
                      "\"amsp.plan/1\")",
                      file, line));
    const std::string kind = json.value("kind", "");
    if (kind == "candidate" && number(json, "tokens_per_gpu_second") > 0)
      points["candidates"].push_back(
          {{"name", plan_name(json)},
           {"memory_bytes", number(json, "memory_bytes")},
           {"tokens_per_gpu_second", number(json, "tokens_per_gpu_second")},
           {"fits", json.value("fits", Json()) == true}});
    if (kind != "case" || !json.contains("ranking") || json["ranking"].empty()) continue;
    const Json& best = json["ranking"][0];
    points["cases"].push_back({{"gpus", number(json, "gpus")},
                               {"step_time_s", number(best, "step_time_s")},
                               {"tokens_per_gpu_second", number(best, "tokens_per_gpu_second")},
                               {"name", plan_name(best)}});
  }
  return points;
}

}  // namespace amsp
