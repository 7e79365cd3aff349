#pragma once

#include <cstdint>

#include "executor/interface/dtype.h"

namespace amsp {

/// to[i] += from[i] for i < count; bf16 is summed in fp32 and rounded to nearest, ties to even (a
/// NaN stays one). InternalError for kI32. The memories don't overlap.
void add_to(DType type, void* to, const void* from, std::int64_t count);

}  // namespace amsp
