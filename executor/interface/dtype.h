#pragma once

#include <cstdint>

namespace amsp {

/// Element types of buffers.
enum class DType : std::uint8_t { kBf16, kF32, kF64, kI32 };

constexpr std::int64_t size_of(DType type) {
  switch (type) {
    case DType::kBf16:
      return 2;
    case DType::kF32:
    case DType::kI32:
      return 4;
    case DType::kF64:
      return 8;
  }
  return 0;
}
/// "bf16", "fp32", "fp64", "int32".
const char* to_string(DType type);

/// Statistics, losses and optimizer states of storage type `type` are kept in this type: fp64 for
/// fp64, else fp32. Kernels accumulate in it.
constexpr DType wide(DType type) {
  return type == DType::kF64 ? DType::kF64 : DType::kF32;
}

}  // namespace amsp
