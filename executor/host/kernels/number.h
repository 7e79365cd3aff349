#pragma once

#include <type_traits>

#include "core/error.h"
#include "executor/host/kernels/bfloat16.h"
#include "executor/interface/dtype.h"

namespace amsp::host {

/// The C++ type in which kernels compute what is stored as T; wide() in types.
template <typename T>
using Wide = std::conditional_t<std::is_same_v<T, double>, double, float>;

inline double widen(double value) {
  return value;
}
inline float widen(float value) {
  return value;
}
inline float widen(Bf16 value) {
  return to_float(value);
}

/// Rounds to nearest even; double to Bf16 goes through float.
template <typename T, typename W>
inline T round_to(W value) {
  if constexpr (std::is_same_v<T, Bf16>)
    return to_bf16(static_cast<float>(value));
  else
    return static_cast<T>(value);
}

/// Calls kernel(T()) with the C++ type of a storage type.
template <typename Kernel>
void with_type(DType type, Kernel&& kernel) {
  switch (type) {
    case DType::kF64:
      return kernel(double());
    case DType::kF32:
      return kernel(float());
    case DType::kBf16:
      return kernel(Bf16());
    case DType::kI32:
      break;
  }
  throw InternalError(fmt::format("no kernel computes in {}", to_string(type)));
}

/// Calls kernel(T(), G()) with the C++ types of storage and gradients: G is T, or float for Bf16.
template <typename Kernel>
void with_types(DType type, DType grad_type, Kernel&& kernel) {
  if (type == DType::kBf16 && grad_type == DType::kF32) return kernel(Bf16(), float());
  AMSP_CHECK(type == grad_type, "no kernel for {} with gradients of {}", to_string(type),
             to_string(grad_type));
  with_type(type, [&](auto zero) { kernel(zero, zero); });
}

}  // namespace amsp::host
