#pragma once

#include <cmath>
#include <compare>
#include <cstdint>
#include <limits>

namespace amsp {

/// A number tagged with its dimension, in SI base units: bytes, seconds, flop.
/// "G" is always 1e9. Powers of two are spelt Ki, Mi, Gi.
template <class Tag, class Rep = double>
struct Quantity {
  Rep value{};

  // clang-tidy 14 takes the 0 of a rewritten comparison for a pointer
  constexpr auto operator<=>(const Quantity&) const = default;  // NOLINT(modernize-use-nullptr)
  constexpr Quantity& operator+=(Quantity b) {
    value += b.value;
    return *this;
  }
  constexpr Quantity& operator-=(Quantity b) {
    value -= b.value;
    return *this;
  }
  friend constexpr Quantity operator+(Quantity a, Quantity b) { return {a.value + b.value}; }
  friend constexpr Quantity operator-(Quantity a, Quantity b) { return {a.value - b.value}; }
  friend constexpr Quantity operator-(Quantity a) { return {-a.value}; }
  friend constexpr Quantity abs(Quantity a) { return a.value < 0 ? -a : a; }
  friend constexpr Quantity operator*(Rep k, Quantity a) { return {k * a.value}; }
  friend constexpr Quantity operator*(Quantity a, Rep k) { return {k * a.value}; }
  friend constexpr Quantity operator/(Quantity a, Rep k) { return {a.value / k}; }
  /// The ratio of two like quantities is a plain number.
  friend constexpr double operator/(Quantity a, Quantity b) {
    return static_cast<double>(a.value) / static_cast<double>(b.value);
  }
};

using Bytes = Quantity<struct BytesTag, std::int64_t>;
using Seconds = Quantity<struct SecondsTag>;
using BytesPerSec = Quantity<struct BytesPerSecTag>;
using Flop = Quantity<struct FlopTag>;
using FlopPerSec = Quantity<struct FlopPerSecTag>;

/// Whole nanoseconds: the unit of traces and clocks, so that parts add up exactly.
using Nanoseconds = Quantity<struct NanosecondsTag, std::int64_t>;
/// Nearest; ties to even.
inline Nanoseconds to_ns(Seconds time) {
  return {std::llrint(time.value * 1e9)};
}
constexpr Seconds to_seconds(Nanoseconds time) {
  return {static_cast<double>(time.value) * 1e-9};
}

/// Only physically meaningful divisions exist, so `Bytes + Seconds` does not compile.
constexpr Seconds operator/(Bytes size, BytesPerSec rate) {
  return {static_cast<double>(size.value) / rate.value};
}
constexpr Seconds operator/(Flop work, FlopPerSec rate) {
  return {work.value / rate.value};
}
constexpr BytesPerSec operator/(Bytes size, Seconds time) {
  return {static_cast<double>(size.value) / time.value};
}
constexpr FlopPerSec operator/(Flop work, Seconds time) {
  return {work.value / time.value};
}

constexpr Bytes operator""_B(unsigned long long n) {
  return {static_cast<std::int64_t>(n)};
}
constexpr Bytes operator""_KiB(unsigned long long n) {
  return {static_cast<std::int64_t>(n) << 10};
}
constexpr Bytes operator""_MiB(unsigned long long n) {
  return {static_cast<std::int64_t>(n) << 20};
}
constexpr Bytes operator""_GiB(unsigned long long n) {
  return {static_cast<std::int64_t>(n) << 30};
}
constexpr BytesPerSec operator""_GBps(unsigned long long n) {
  return {static_cast<double>(n) * 1e9};
}
constexpr Seconds operator""_us(unsigned long long n) {
  return {static_cast<double>(n) / 1e6};  // 1e6 is exact, 1e-6 is not
}
constexpr Nanoseconds operator""_ns(unsigned long long n) {
  return {static_cast<std::int64_t>(n)};
}
constexpr FlopPerSec operator""_TFLOPS(unsigned long long n) {
  return {static_cast<double>(n) * 1e12};
}
static_assert((1_MiB / 1_GBps).value == 1048576e-9);

}  // namespace amsp

/// The limits of the number, as a quantity.
template <class Tag, class Rep>
struct std::numeric_limits<amsp::Quantity<Tag, Rep>> : std::numeric_limits<Rep> {
  static constexpr amsp::Quantity<Tag, Rep> min() { return {std::numeric_limits<Rep>::min()}; }
  static constexpr amsp::Quantity<Tag, Rep> max() { return {std::numeric_limits<Rep>::max()}; }
  static constexpr amsp::Quantity<Tag, Rep> lowest() {
    return {std::numeric_limits<Rep>::lowest()};
  }
};
