#include "scenario/load_cluster.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>

#include "core/error.h"
#include "core/json.h"
#include "core/nearest.h"
#include "core/object_reader.h"
#include "scenario/scenario.h"
#include "topology/cluster_reader.h"
#include "topology/presets.h"

namespace amsp {
namespace {

/// `name` is no file, hence a preset's.
Json preset(const std::string& name) {
  const std::vector<std::string> known = names(cluster_presets());
  if (std::find(known.begin(), known.end(), name) != known.end()) return Json{{"preset", name}};
  const auto close = nearest(name, known);
  throw ConfigError(fmt::format("there is no file or preset '{}'{} (presets: {})", name,
                                close ? "; did you mean '" + *close + "'?" : "", join(known)));
}

/// Without what names the format, which read_cluster doesn't know.
Json bare_description(const Json& json, const std::string& where) {
  ObjectReader root(json, where);
  root.choice("schema", {"amsp.cluster/1"});
  Json description = json;
  description.erase("schema");
  description.erase("$schema");
  return description;
}

}  // namespace

ClusterSpec load_cluster(const std::string& path, const std::vector<std::string>& overrides) {
  std::error_code unreadable;
  const bool is_file = std::filesystem::exists(path, unreadable);
  Json json = is_file ? read_json_file(path) : preset(path);
  for (const std::string& assignment : overrides) apply_override(json, assignment);
  if (!is_file) return read_cluster(ObjectReader(json, path + "#"));
  const std::string folder = std::filesystem::path(path).parent_path().string();
  if (json.is_object() && json.contains("cluster"))
    return read_cluster(ObjectReader(json, path + "#").object("cluster"), folder);
  const Json description = bare_description(json, path + "#");
  return read_cluster(ObjectReader(description, path + "#"), folder);
}

}  // namespace amsp
