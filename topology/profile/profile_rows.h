#pragma once

#include <string>
#include <vector>

#include "core/json/object_reader.h"

namespace amsp {

/// One row of a table of numbers in a profile; absent (JSON null) entries are NaN.
using ProfileRow = std::vector<double>;

/// Reads `key` of `object` as a list of at least `least` rows of `columns` numbers each, all
/// finite and > 0. The last `nullable` columns may hold null. The first `whole` columns hold
/// whole numbers. Throws ConfigError naming file and pointer (FILE#/rows/3/1: ...).
struct RowFormat {
  std::size_t columns = 0;
  std::size_t whole = 0;
  std::size_t nullable = 0;
  std::size_t least = 1;
};
std::vector<ProfileRow> read_profile_rows(ObjectReader& object, const std::string& key,
                                          RowFormat format);

/// Reads the list of objects at `key`: one reader an entry. Throws ConfigError if it is no list.
std::vector<ObjectReader> read_profile_objects(ObjectReader& object, const std::string& key);

}  // namespace amsp
