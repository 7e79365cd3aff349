#pragma once

#include <string>
#include <string_view>

#include "core/json/json.h"

namespace amsp {

/// For parse_error() of nlohmann's SAX handlers: "LINE:COLUMN: what is wrong", in our words.
/// `innermost` is the container that is still open, or null; `after_key`: between a key and its
/// value; `position` and `error` as the parser gives them.
std::string explain_sax_error(std::string_view text, const Json* innermost, bool after_key,
                              std::size_t position, const nlohmann::detail::exception& error);

}  // namespace amsp
