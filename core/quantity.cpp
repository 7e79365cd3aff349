#include "core/quantity.h"

#include <fmt/core.h>

#include <charconv>
#include <cmath>
#include <initializer_list>

namespace amsp {
namespace {

struct Measure {
  double number;
  std::string_view unit;
};

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// Splits "1.5 MB" into the number and the unit. std::from_chars alone would also take "inf",
/// a sign and "1.".
std::optional<Measure> split(std::string_view text) {
  std::size_t end = 0;
  const auto skip_digits = [&] {
    const std::size_t begin = end;
    while (end < text.size() && is_digit(text[end])) ++end;
    return end > begin;
  };
  if (!skip_digits()) return std::nullopt;
  if (end < text.size() && text[end] == '.') {
    ++end;
    if (!skip_digits()) return std::nullopt;
  }
  if (end < text.size() && (text[end] == 'e' || text[end] == 'E')) {
    ++end;
    if (end < text.size() && (text[end] == '+' || text[end] == '-')) ++end;
    if (!skip_digits()) return std::nullopt;
  }

  Measure measure{};
  const auto [rest, error] = std::from_chars(text.data(), text.data() + end, measure.number);
  if (error != std::errc{} || rest != text.data() + end) return std::nullopt;
  measure.unit = text.substr(end);
  if (measure.unit.starts_with(' ')) measure.unit.remove_prefix(1);
  return measure;
}

struct Prefix {
  std::string_view name;
  double factor;
};
constexpr Prefix kPrefixes[] = {
    {"", 1},     {"k", 1e3},     {"K", 1e3},     {"M", 1e6},     {"G", 1e9},     {"T", 1e12},
    {"P", 1e15}, {"Ki", 0x1p10}, {"Mi", 0x1p20}, {"Gi", 0x1p30}, {"Ti", 0x1p40}, {"Pi", 0x1p50},
};

struct Unit {
  std::string_view name;
  double divisor;
};

/// The value of `text` in base units, if its unit is one of `units` behind one of kPrefixes.
std::optional<double> parse_prefixed(std::string_view text, std::initializer_list<Unit> units) {
  const std::optional<Measure> measure = split(text);
  if (!measure) return std::nullopt;
  for (const Unit& unit : units) {
    if (!measure->unit.ends_with(unit.name)) continue;
    const std::string_view before =
        measure->unit.substr(0, measure->unit.size() - unit.name.size());
    for (const Prefix& prefix : kPrefixes) {
      const double value = measure->number * prefix.factor / unit.divisor;
      if (before == prefix.name && std::isfinite(value)) return value;
    }
  }
  return std::nullopt;
}

/// As many decimals as `digits` significant digits leave, none if the integer part needs them all.
std::string round_text(double number, std::size_t digits) {
  for (std::size_t decimals = digits - 1; decimals > 0; --decimals) {
    std::string text = fmt::format("{:.{}f}", number, decimals);
    if (text.size() <= digits + 1) return text;
  }
  return fmt::format("{:.0f}", number);
}

/// Goes to the next unit, `step` times larger, until the rounded number is below `step`, so that
/// 999.96 us never shows as "1000 us".
std::string format_scaled(double value, double step, std::initializer_list<const char*> units,
                          std::size_t digits) {
  double number = std::abs(value);
  auto unit = units.begin();
  std::string text = round_text(number, digits);
  while (unit + 1 != units.end() && std::isfinite(number) && std::stod(text) >= step) {
    number /= step;
    ++unit;
    text = round_text(number, digits);
  }
  return fmt::format("{}{} {}", value < 0 ? "-" : "", text, *unit);
}

std::string format_bytes(Bytes bytes, double step, std::initializer_list<const char*> units) {
  if (std::abs(double(bytes.value)) < step) return fmt::format("{} B", bytes.value);
  return format_scaled(double(bytes.value), step, units, 3);
}

}  // namespace

std::optional<Bytes> parse_bytes(std::string_view text) {
  const std::optional<double> value = parse_prefixed(text, {{"B", 1}});
  // 2^63 is the smallest double that does not fit
  if (!value || *value >= 0x1p63) return std::nullopt;
  return Bytes{std::llround(*value)};
}

std::optional<BytesPerSec> parse_bandwidth(std::string_view text) {
  const auto value = parse_prefixed(text, {{"bps", 8}, {"b/s", 8}, {"Bps", 1}, {"B/s", 1}});
  if (!value) return std::nullopt;
  return BytesPerSec{*value};
}

std::optional<Seconds> parse_time(std::string_view text) {
  const std::optional<Measure> measure = split(text);
  if (!measure) return std::nullopt;
  // divisors, since 1e6 is exact and 1e-6 is not: "5us" is the double nearest to 0.000005
  for (const Unit& unit : {Unit{"s", 1}, {"ms", 1e3}, {"us", 1e6}, {"ns", 1e9}})
    if (measure->unit == unit.name) return Seconds{measure->number / unit.divisor};
  return std::nullopt;
}

std::optional<FlopPerSec> parse_flop_rate(std::string_view text) {
  const std::optional<double> value = parse_prefixed(text, {{"FLOPS", 1}, {"FLOP/s", 1}});
  if (!value) return std::nullopt;
  return FlopPerSec{*value};
}

std::string format_bytes(Bytes bytes) {
  return format_bytes(bytes, 1000, {"B", "kB", "MB", "GB", "TB", "PB", "EB"});
}

std::string format_bytes_binary(Bytes bytes) {
  return format_bytes(bytes, 1024, {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"});
}

std::string format_bandwidth(BytesPerSec rate) {
  if (rate.value == 0) return "0 B/s";
  return format_scaled(rate.value, 1000, {"B/s", "kB/s", "MB/s", "GB/s", "TB/s", "PB/s", "EB/s"},
                       3);
}

std::string format_time(Seconds time) {
  if (time.value == 0) return "0 s";
  if (!std::isfinite(time.value)) return fmt::format("{} s", time.value);
  return format_scaled(time.value * 1e9, 1000, {"ns", "us", "ms", "s"}, 4);
}

std::string format_flop_rate(FlopPerSec rate) {
  if (rate.value == 0) return "0 FLOP/s";
  return format_scaled(rate.value, 1000,
                       {"FLOP/s", "kFLOP/s", "MFLOP/s", "GFLOP/s", "TFLOP/s", "PFLOP/s", "EFLOP/s"},
                       3);
}

}  // namespace amsp
