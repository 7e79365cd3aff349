#pragma once

#include <cstdint>

#include "executor/host/kernels/bfloat16.h"

namespace amsp::host {

/// The largest of x[n], n > 0. Where there are NaNs, one of them or the largest of the others.
double row_max(const double* x, std::int64_t n);
float row_max(const float* x, std::int64_t n);
float row_max(const Bf16* x, std::int64_t n);

}  // namespace amsp::host
