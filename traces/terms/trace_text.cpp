#include "traces/terms/trace_text.h"

#include <fmt/core.h>

#include <charconv>
#include <limits>

#include "core/error.h"
#include "core/json/json.h"

namespace amsp {
namespace {

constexpr std::int64_t kNsPerUs = 1000;

/// Digits only, all of them.
std::optional<std::int64_t> parse_digits(std::string_view digits) {
  if (digits.empty() || digits.find_first_not_of("0123456789") != std::string_view::npos)
    return std::nullopt;
  std::int64_t value = 0;
  const auto result = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (result.ec != std::errc{}) return std::nullopt;
  return value;
}

}  // namespace

std::string format_us(Nanoseconds time) {
  AMSP_CHECK(time >= 0_ns, "{} ns have no place in a trace", time.value);
  return fmt::format("{}.{:03}", time.value / kNsPerUs, time.value % kNsPerUs);
}

std::optional<Nanoseconds> parse_us(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  const std::size_t point = text.find('.');
  const std::optional<std::int64_t> whole = parse_digits(text.substr(0, point));
  if (!whole || *whole > std::numeric_limits<std::int64_t>::max() / kNsPerUs - 1)
    return std::nullopt;
  std::int64_t fraction = 0;
  if (point != std::string_view::npos) {
    std::string digits(text.substr(point + 1));
    if (digits.empty() || digits.size() > 3) return std::nullopt;
    digits.resize(3, '0');
    const std::optional<std::int64_t> parsed = parse_digits(digits);
    if (!parsed) return std::nullopt;
    fraction = *parsed;
  }
  const Nanoseconds time{*whole * kNsPerUs + fraction};
  return negative ? -time : time;
}

std::string json_string(std::string_view text) {
  return Json(text).dump();
}

}  // namespace amsp
