#include "training/optimizers.h"

#include <fmt/core.h>

#include "core/error.h"
#include "core/json/json.h"
#include "core/json/object_reader.h"
#include "data/embedded.h"

namespace amsp {
namespace {

OptimizerSpec read_optimizer(ObjectReader entry) {
  constexpr double kMostBytes = 1024;
  OptimizerSpec spec{.name = entry.string("name"),
                     .state_bytes = entry.number("state_bytes", 0, kMostBytes),
                     .traffic_bytes = entry.number("traffic_bytes", 0, kMostBytes),
                     .source = entry.string("source")};
  entry.finish();
  return spec;
}

const std::vector<OptimizerSpec>& optimizers() {
  static const std::vector<OptimizerSpec> all = [] {
    const Json json = parse_json(embedded("optimizers.json"), "optimizers.json");
    ObjectReader root(json, "optimizers.json#");
    root.choice("schema", {"amsp.optimizers/1"});
    std::vector<OptimizerSpec> specs;
    for (const Json& entry : root.value("optimizers"))
      specs.push_back(read_optimizer(
          ObjectReader(entry, fmt::format("{}/{}", root.where("optimizers"), specs.size()))));
    root.finish();
    return specs;
  }();
  return all;
}

}  // namespace

std::vector<std::string> optimizer_names() {
  std::vector<std::string> names;
  for (const OptimizerSpec& spec : optimizers()) names.push_back(spec.name);
  return names;
}

OptimizerSpec optimizer(const std::string& name) {
  for (const OptimizerSpec& spec : optimizers())
    if (spec.name == name) return spec;
  throw InternalError(fmt::format("there is no optimizer '{}'", name));
}

}  // namespace amsp
