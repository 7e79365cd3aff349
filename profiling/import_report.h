#pragma once

#include <string>

#include "core/json/json_fwd.h"
#include "profiling/import_logs.h"
#include "topology/spec/cluster_spec.h"

namespace amsp {

/// What a scenario with this profile has to say about its cluster beyond what `cluster` says:
/// capacities that the measurements exceed. Empty if nothing.
std::vector<std::string> capacity_notes(const LogImport& imported, const ClusterSpec& cluster);

/// For people; the table fits 100 columns. `output` is the profile's path, or empty.
std::string import_text(const LogImport& imported, const std::string& output);
/// For programs: units in keys ("amsp.import/1").
OrderedJson import_json(const LogImport& imported, const std::string& output);

}  // namespace amsp
