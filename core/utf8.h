#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace amsp {

/// The number of code points of valid UTF-8; what a terminal shows one column each for, as long
/// as nobody uses combining or wide characters.
std::size_t utf8_length(std::string_view text);

/// Offset of the first byte that belongs to no valid UTF-8 sequence (overlong forms, surrogates
/// and values past U+10FFFF are invalid); std::string_view::npos if there is none.
std::size_t utf8_error(std::string_view text);

/// At most `limit` (>= 3) code points: a longer text is cut and ends with "...".
std::string shorten(std::string_view text, std::size_t limit);

}  // namespace amsp
