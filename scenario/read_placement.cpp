#include <fmt/core.h>

#include <set>

#include "core/json/json.h"
#include "scenario/readers.h"

namespace amsp {

PlacementSpec read_placement(ObjectReader& scenario, Mesh dp, int nodes) {
  PlacementSpec spec;
  if (!scenario.has("placement")) return spec;
  if (!scenario.value("placement").is_object()) {
    if (scenario.choice("placement", {"packed", "scattered"}) == "scattered")
      spec.kind = PlacementKind::kScattered;
    return spec;
  }
  spec.kind = PlacementKind::kExplicit;
  ObjectReader reader = scenario.object("placement");
  const char* const key = "nodes";
  const Json& list = reader.value(key);
  if (!list.is_array())
    reader.fail(key, "must be a list with the cluster's node of every node of the mesh, found " +
                         describe(list));
  if (list.size() != static_cast<std::size_t>(dp.inter))
    reader.fail(key, fmt::format("must have one entry for each of the {} nodes of {}, has {}",
                                 dp.inter, to_string(dp), list.size()));
  std::set<int> used;
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (!list[i].is_number_integer() || list[i] < 0 || list[i] >= nodes)
      reader.fail(key, fmt::format("entry {} must be a whole number from 0 to {}, found {}", i,
                                   nodes - 1, describe(list[i])));
    spec.nodes.push_back(list[i].get<int>());
    if (!used.insert(spec.nodes.back()).second)
      reader.fail(key, fmt::format("names node {} twice", spec.nodes.back()));
  }
  reader.finish();
  return spec;
}

}  // namespace amsp
