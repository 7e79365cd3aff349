#pragma once

#include <nlohmann/json_fwd.hpp>

namespace amsp {

// For headers: who reads or makes JSON includes core/json/json.h, which takes longer to compile.

using Json = nlohmann::json;
/// Keeps the order of insertion: for everything we write.
using OrderedJson = nlohmann::ordered_json;

}  // namespace amsp
