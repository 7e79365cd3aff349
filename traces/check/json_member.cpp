#include "traces/check/json_member.h"

#include <limits>

#include "core/json/object_reader.h"

namespace amsp {

std::optional<std::uint32_t> whole_id(const Json& value, std::uint32_t low) {
  if (!value.is_number_unsigned()) return std::nullopt;
  const auto number = value.get<std::uint64_t>();
  if (number < low || number > std::numeric_limits<std::uint32_t>::max()) return std::nullopt;
  return static_cast<std::uint32_t>(number);
}

const Json& member(const Json& object, const std::string& key) {
  static const Json kNull;
  const auto found = object.find(key);
  return found == object.end() ? kNull : *found;
}

std::string found(const Json& object, const std::string& key) {
  return object.contains(key) ? describe(object[key]) : "nothing";
}

}  // namespace amsp
