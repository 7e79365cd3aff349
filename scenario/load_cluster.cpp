#include "scenario/load_cluster.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>

#include "core/error.h"
#include "core/json/json.h"
#include "core/json/object_reader.h"
#include "core/nearest.h"
#include "scenario/scenario.h"
#include "topology/read/cluster_reader.h"
#include "topology/read/nccl_topology.h"
#include "topology/read/presets.h"

namespace amsp {
namespace {

Json overridden(Json json, const std::vector<std::string>& overrides) {
  for (const std::string& assignment : overrides) apply_override(json, assignment);
  return json;
}

ClusterSpec load_preset(const std::string& name, const std::vector<std::string>& overrides) {
  const std::vector<std::string> presets = names(cluster_presets());
  if (std::find(presets.begin(), presets.end(), name) == presets.end()) {
    const auto close = nearest(name, presets);
    throw ConfigError(fmt::format("there is no file or preset '{}'{} (presets: {})", name,
                                  close ? "; did you mean '" + *close + "'?" : "", join(presets)));
  }
  const Json json = overridden({{"preset", name}}, overrides);
  return read_cluster(ObjectReader(json, name + "#"));
}

bool is_xml(const std::string& text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string::npos && text[first] == '<';
}

}  // namespace

ClusterSpec load_cluster(const std::string& source, const std::vector<std::string>& overrides) {
  std::error_code unreadable;
  if (!std::filesystem::exists(source, unreadable)) return load_preset(source, overrides);
  const std::filesystem::path path(source);
  const std::string text = read_file(source);
  if (is_xml(text)) {
    if (!overrides.empty()) throw ConfigError("--set: has no effect on NCCL's file");
    ClusterSpec spec;
    spec.name = path.filename().string();
    spec.node = read_nccl_topology(text, source);
    return spec;
  }
  Json json = overridden(parse_json(text, source), overrides);
  const std::string folder = path.parent_path().string();
  ObjectReader root(json, source + "#");
  if (root.has("cluster")) {
    if (root.has("conditions") && !root.value("conditions").empty())
      root.fail("conditions",
                "have no effect on a cluster by itself; leave them out, or --set conditions=null");
    return read_cluster(root.object("cluster"), folder);
  }
  if (root.has("schema")) root.choice("schema", {"amsp.cluster/1"});
  json.erase("schema");
  json.erase("$schema");
  return read_cluster(ObjectReader(json, source + "#"), folder);
}

}  // namespace amsp
