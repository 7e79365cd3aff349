#include "executor/fabric/sum.h"

#include <bit>

#include "core/error.h"

namespace amsp {
namespace {

template <typename T>
void add(T* __restrict to, const T* __restrict from, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) to[i] += from[i];
}

float to_float(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

std::uint16_t to_bf16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
  // The carry of rounding could turn a NaN into an infinity or a zero.
  const std::uint32_t quiet = (bits >> 16) | 0x40;
  return static_cast<std::uint16_t>((bits & 0x7fffffff) > 0x7f800000 ? quiet : rounded);
}

void add_bf16(std::uint16_t* __restrict to, const std::uint16_t* __restrict from,
              std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) to[i] = to_bf16(to_float(to[i]) + to_float(from[i]));
}

}  // namespace

void add_to(DType type, void* to, const void* from, std::int64_t count) {
  switch (type) {
    case DType::kF64:
      return add(static_cast<double*>(to), static_cast<const double*>(from), count);
    case DType::kF32:
      return add(static_cast<float*>(to), static_cast<const float*>(from), count);
    case DType::kBf16:
      return add_bf16(static_cast<std::uint16_t*>(to), static_cast<const std::uint16_t*>(from),
                      count);
    case DType::kI32:
      break;
  }
  AMSP_CHECK(false, "no sums of {}", to_string(type));
}

}  // namespace amsp
