#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/json/json.h"

namespace amsp {

/// A whole number >= `low` that fits into 32 bits without sign; std::nullopt for anything else.
std::optional<std::uint32_t> whole_id(const Json& value, std::uint32_t low);
/// The member, or null.
const Json& member(const Json& object, const std::string& key);
/// The member for messages: "nothing" where it is missing.
std::string found(const Json& object, const std::string& key);

}  // namespace amsp
