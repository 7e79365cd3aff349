#pragma once

#include <string>
#include <string_view>

namespace amsp {

/// Where the parser stood when it met the error.
struct JsonPlace {
  enum class Container { kNone, kObject, kArray };
  Container container;     // the innermost open one
  bool after_key;          // between a key and its value
  std::size_t bytes_read;  // through the offending byte; text.size() + 1 if that is the end
};

/// "LINE:COLUMN" of a byte, both from 1, columns in code points.
std::string line_and_column(std::string_view text, std::size_t offset);

/// "LINE:COLUMN: what is wrong", for a text of valid UTF-8 that is no valid JSON.
std::string explain_syntax_error(std::string_view text, const JsonPlace& place);
/// The same, for a number that is too large for a double.
std::string explain_overflow(std::string_view text, const JsonPlace& place);

}  // namespace amsp
