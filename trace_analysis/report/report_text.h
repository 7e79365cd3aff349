#pragma once

#include <string>

#include "core/units.h"

namespace amsp {

// How reports of traces write numbers.

/// Exact: "-12.345", microseconds with three decimals.
std::string exact_us(Nanoseconds time);
/// Short: "1.273 s", "-312.4 us", "0 s".
std::string short_time(double ns);
/// "12.3 %", or "+12.3 %" with `sign`; "-" of nothing.
std::string percent_of(double part, double whole, bool sign = false);

}  // namespace amsp
