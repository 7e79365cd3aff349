#include "topology/profile/profile_rows.h"

#include <fmt/core.h>

#include <cmath>
#include <limits>

#include "core/error.h"
#include "core/json/json.h"

namespace amsp {
namespace {

const Json& list_at(ObjectReader& object, const std::string& key) {
  const Json& list = object.value(key);
  if (!list.is_array()) object.fail(key, "must be a list, found " + describe(list));
  return list;
}

/// False if the entry breaks the format.
bool read_entry(const Json& entry, bool whole, bool nullable, double& value) {
  if (entry.is_null() && nullable) {
    value = std::numeric_limits<double>::quiet_NaN();
    return true;
  }
  value = entry.is_number() ? entry.get<double>() : 0;
  return value > 0 && std::isfinite(value) && (!whole || value == std::floor(value));
}

}  // namespace

std::vector<ProfileRow> read_profile_rows(ObjectReader& object, const std::string& key,
                                          RowFormat format) {
  const Json& list = list_at(object, key);
  if (list.size() < format.least) {
    object.fail(key, fmt::format("must have at least {} row{}, found {}", format.least,
                                 format.least == 1 ? "" : "s", list.size()));
  }
  std::vector<ProfileRow> rows;
  rows.reserve(list.size());
  for (std::size_t i = 0; i < list.size(); ++i) {
    const auto fail = [&](const std::string& place, const std::string& rule, const Json& found) {
      throw ConfigError(fmt::format("{}/{}{}: must be {}, found {}", object.where(key), i, place,
                                    rule, describe(found)));
    };
    if (!list[i].is_array() || list[i].size() != format.columns)
      fail("", fmt::format("a row of {} numbers", format.columns), list[i]);
    ProfileRow row(format.columns);
    for (std::size_t j = 0; j < format.columns; ++j) {
      const bool whole = j < format.whole;
      if (!read_entry(list[i][j], whole, j + format.nullable >= format.columns, row[j]))
        fail(fmt::format("/{}", j), whole ? "a whole number above 0" : "a number above 0",
             list[i][j]);
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<ObjectReader> read_profile_objects(ObjectReader& object, const std::string& key) {
  const Json& list = list_at(object, key);
  std::vector<ObjectReader> readers;
  readers.reserve(list.size());
  for (std::size_t i = 0; i < list.size(); ++i)
    readers.emplace_back(list[i], fmt::format("{}/{}", object.where(key), i));
  return readers;
}

}  // namespace amsp
