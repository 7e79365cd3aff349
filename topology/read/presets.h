#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/json/json.h"

namespace amsp {

/// A description from data/clusters.json or data/gpus.json, as a scenario would write it, and
/// where each of its figures comes from, by dotted path: "node.nics.capacity".
struct Preset {
  Json description;
  std::map<std::string, std::string> sources;
};
using Presets = std::map<std::string, Preset>;

/// By name; compiled in. A cluster without `nodes` leaves the number to the scenario.
const Presets& cluster_presets();
const Presets& gpu_presets();

/// Sorted.
std::vector<std::string> names(const Presets& presets);

}  // namespace amsp
