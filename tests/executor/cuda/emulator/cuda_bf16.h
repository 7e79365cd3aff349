#pragma once

#include <cstdint>
#include <cstring>

/// The upper half of a float.
struct __nv_bfloat16 {
  std::uint16_t bits;
  __nv_bfloat16() = default;
  explicit __nv_bfloat16(float x);
};

inline float __bfloat162float(__nv_bfloat16 x) {
  const std::uint32_t bits = std::uint32_t{x.bits} << 16;
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}
/// To nearest, ties to even.
inline __nv_bfloat16 __float2bfloat16_rn(float x) {
  return __nv_bfloat16(x);
}
inline __nv_bfloat16::__nv_bfloat16(float x) {
  std::uint32_t all;
  std::memcpy(&all, &x, sizeof(all));
  if (x != x)
    bits = 0x7fff;
  else
    bits = static_cast<std::uint16_t>((all + 0x7fff + (all >> 16 & 1)) >> 16);
}
inline __nv_bfloat16 __double2bfloat16(double x) {
  return __nv_bfloat16(static_cast<float>(x));
}
inline unsigned short __bfloat16_as_ushort(__nv_bfloat16 x) {
  return x.bits;
}
