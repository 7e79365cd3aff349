#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/units.h"

namespace amsp {

/// Microseconds as traces have them, from non-negative nanoseconds: always three decimals.
std::string format_us(Nanoseconds time);

/// The same way back, never through a double. Accepts a sign and up to three decimals.
/// std::nullopt for anything else (exponents, finer fractions, what overflows).
std::optional<Nanoseconds> parse_us(std::string_view text);

/// A JSON string with its quotes.
std::string json_string(std::string_view text);

}  // namespace amsp
