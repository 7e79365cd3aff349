#include "trace_analysis/report/report_text.h"

#include <fmt/format.h>

#include <cmath>

#include "core/quantity.h"

namespace amsp {

std::string exact_us(Nanoseconds time) {
  const std::int64_t ns = abs(time).value;
  return fmt::format("{}{}.{:03}", time < 0_ns ? "-" : "", ns / 1000, ns % 1000);
}

std::string short_time(double ns) {
  return (ns < 0 ? "-" : "") + format_time(Seconds{std::abs(ns) * 1e-9});
}

std::string percent_of(double part, double whole, bool sign) {
  if (whole == 0) return "-";
  const double value = 100 * part / whole;
  return sign ? fmt::format("{:+.1f} %", value) : fmt::format("{:.1f} %", value);
}

}  // namespace amsp
