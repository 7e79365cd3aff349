#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "core/error.h"
#include "core/json/json.h"
#include "core/json/object_reader.h"
#include "core/utf8.h"
#include "scenario/scenario.h"

namespace amsp {
namespace {

constexpr std::size_t kMostSteps = 16;  // the format is 5 objects deep

std::string shown(const std::string& assignment) {
  return "--set " + shorten(assignment, 80);
}

std::vector<std::string> split_path(const std::string& path, const std::string& assignment) {
  std::vector<std::string> steps;
  std::size_t begin = 0;
  while (true) {
    const std::size_t end = std::min(path.find('.', begin), path.size());
    if (end == begin)
      throw ConfigError(fmt::format("{}: the path has an empty part", shown(assignment)));
    steps.push_back(path.substr(begin, end - begin));
    if (steps.size() > kMostSteps)
      throw ConfigError(
          fmt::format("{}: the path has more than {} parts", shown(assignment), kMostSteps));
    if (end == path.size()) return steps;
    begin = end + 1;
  }
}

/// Text that opens like JSON has to be JSON; "8x1", "full" and "1e999" are strings.
Json parse_value(const std::string& text, const std::string& assignment) {
  const bool opens = text.starts_with('{') || text.starts_with('[') || text.starts_with('"');
  try {
    return parse_json(text, shown(assignment));
  } catch (const ConfigError&) {
    if (opens) throw;
    return text;
  }
}

/// The member of an object (made if it isn't there) or the element of an array.
Json& step_into(Json& json, const std::string& step, const std::string& before,
                const std::string& assignment) {
  if (json.is_null()) json = Json::object();
  if (json.is_object()) return json[step];
  const std::string place = before.empty() ? "the scenario" : "'" + before + "'";
  if (!json.is_array())
    throw ConfigError(fmt::format("{}: {} is no object, it is {}; give it as an object first",
                                  shown(assignment), place, describe(json)));
  std::size_t index = 0;
  const auto [end, error] = std::from_chars(step.data(), step.data() + step.size(), index);
  if (error != std::errc{} || end != step.data() + step.size() || index >= json.size())
    throw ConfigError(fmt::format("{}: {} has {} elements, counted from 0; there is no '{}'",
                                  shown(assignment), place, json.size(), step));
  return json[index];
}

}  // namespace

void apply_override(Json& json, const std::string& assignment) {
  if (const std::size_t bad = utf8_error(assignment); bad != std::string::npos)
    throw ConfigError(fmt::format("--set: byte {} of the override is no UTF-8", bad + 1));
  const std::size_t equals = assignment.find('=');
  if (equals == std::string::npos || equals == 0)
    throw ConfigError(
        fmt::format("{}: must be PATH=VALUE such as training.micro_batches=8", shown(assignment)));
  const std::string path = assignment.substr(0, equals);
  const std::vector<std::string> steps = split_path(path, assignment);
  Json value = parse_value(assignment.substr(equals + 1), assignment);
  Json* parent = nullptr;
  Json* target = &json;
  std::string before;
  for (const std::string& step : steps) {
    parent = target;
    target = &step_into(*target, step, before, assignment);
    before += before.empty() ? step : "." + step;
  }
  if (!value.is_null()) {
    *target = std::move(value);
    return;
  }
  if (!parent->is_object() || target->is_null())
    throw ConfigError(fmt::format("{}: there is no key '{}' to remove", shown(assignment), path));
  parent->erase(steps.back());
}

}  // namespace amsp
