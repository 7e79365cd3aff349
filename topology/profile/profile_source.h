#pragma once

#include <string>
#include <utility>

#include "core/json/json.h"

namespace amsp {

/// Whether a profile's name is that of a file ("*.json") rather than one of data/profiles.
bool is_profile_file(const std::string& name);

/// The profile and its place for messages. Throws ConfigError for a name that is not known (with
/// the nearest that is), or a file that can't be read.
std::pair<Json, std::string> load_profile_json(const std::string& name);

}  // namespace amsp
