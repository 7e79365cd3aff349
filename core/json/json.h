#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "core/json/json_fwd.h"

namespace amsp {

/// Parses strict JSON. Throws ConfigError for: a syntax error (file, line, column, what was
/// found), a key that stands twice in one object (file and JSON pointer), nesting deeper than 64,
/// a number that overflows, NaN or Infinity, invalid UTF-8, an empty text.
/// `file` is only used in messages.
Json parse_json(std::string_view text, const std::string& file);

/// The whole file; throws ConfigError naming the path if it can't be read or is a folder.
std::string read_file(const std::string& path);
/// parse_json(read_file(path), path).
Json read_json_file(const std::string& path);

/// Writes to a temporary name beside `path`, then renames, so that no reader ever sees half a
/// file and a failure leaves nothing behind. A symbolic link is followed; a device or a pipe is
/// written to as it is. Throws ConfigError (path and system's reason).
void write_file(const std::string& path, std::string_view content);

}  // namespace amsp
