#include "topology/profile/profile_source.h"

#include <fmt/core.h>

#include <algorithm>
#include <vector>

#include "core/error.h"
#include "core/nearest.h"
#include "data/embedded.h"

namespace amsp {

bool is_profile_file(const std::string& name) {
  return name.ends_with(".json");
}

std::pair<Json, std::string> load_profile_json(const std::string& name) {
  if (is_profile_file(name)) return {read_json_file(name), name};
  const std::string prefix = "profiles/", suffix = ".json";
  std::vector<std::string> known;
  for (const std::string& file : embedded_names(prefix))
    known.push_back(file.substr(prefix.size(), file.size() - prefix.size() - suffix.size()));
  if (std::find(known.begin(), known.end(), name) == known.end()) {
    const auto close = nearest(name, known);
    throw ConfigError(fmt::format("profile '{}' is not known{} (known: {}, none)", name,
                                  close ? "; did you mean '" + *close + "'?" : "", join(known)));
  }
  const std::string file = prefix + name + suffix;
  return {parse_json(embedded(file), "data/" + file), "data/" + file};
}

}  // namespace amsp
