#include "scenario/load_cluster.h"

#include "core/json.h"
#include "core/object_reader.h"
#include "scenario/scenario.h"
#include "topology/cluster_reader.h"

namespace amsp {

ClusterSpec load_cluster(const std::string& path, const std::vector<std::string>& overrides) {
  Json json = read_json_file(path);
  for (const std::string& assignment : overrides) apply_override(json, assignment);
  if (json.is_object() && json.contains("cluster"))
    return read_cluster(ObjectReader(json, path + "#").object("cluster"));
  return read_cluster(ObjectReader(json, path + "#"));
}

}  // namespace amsp
