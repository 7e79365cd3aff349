#pragma once

#include <cstdint>
#include <string>

namespace amsp::host {

/// C[m, n] = op(A)[m, k] op(B)[k, n] + beta C, row-major, in one thread. Sizes and strides up to
/// 2^31 - 1. Requires load_blas() to have returned.
void gemm(bool transpose_a, bool transpose_b, std::int64_t m, std::int64_t n, std::int64_t k,
          const float* a, std::int64_t a_stride, const float* b, std::int64_t b_stride, float beta,
          float* c, std::int64_t c_stride);
void gemm(bool transpose_a, bool transpose_b, std::int64_t m, std::int64_t n, std::int64_t k,
          const double* a, std::int64_t a_stride, const double* b, std::int64_t b_stride,
          double beta, double* c, std::int64_t c_stride);

/// Loads OpenBLAS, once in a process, with the kernels that OPENBLAS_CORETYPE names or, if that
/// isn't set, those for the processor. Sets variables of the environment meanwhile, so no other
/// thread may read them during the first call. Throws DeviceError if it can't be loaded.
void load_blas();
/// "OpenBLAS 0.3.21 (SkylakeX)".
std::string describe_blas();

}  // namespace amsp::host
