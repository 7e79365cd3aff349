#include "executor/interface/dtype.h"

namespace amsp {

const char* to_string(DType type) {
  switch (type) {
    case DType::kBf16:
      return "bf16";
    case DType::kF32:
      return "fp32";
    case DType::kF64:
      return "fp64";
    case DType::kI32:
      return "int32";
  }
  return "?";
}

}  // namespace amsp
