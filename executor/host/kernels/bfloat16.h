#pragma once

#include <bit>
#include <cstdint>

namespace amsp::host {

/// bfloat16: the upper half of an IEEE single.
struct Bf16 {
  std::uint16_t bits;
};

inline float to_float(Bf16 value) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(value.bits) << 16);
}

/// Rounds to nearest, ties to even; beyond the range to infinity; a NaN stays a (quiet) NaN.
/// Without branches, so that loops over it become vector code.
inline Bf16 to_bf16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
  const std::uint32_t quiet = (bits >> 16) | 0x40;
  const bool is_nan = (bits & 0x7fffffff) > 0x7f800000;
  return {static_cast<std::uint16_t>(is_nan ? quiet : rounded)};
}

}  // namespace amsp::host
