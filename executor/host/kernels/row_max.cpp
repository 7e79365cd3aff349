// By itself, since it is compiled as if there were no NaNs: else a maximum doesn't become vector
// code.
#include "executor/host/kernels/row_max.h"

#include <limits>

#include "executor/host/kernels/number.h"
#include "executor/host/kernels/vector_code.h"

namespace amsp::host {
namespace {

template <typename T>
AMSP_VECTOR_CLONES Wide<T> largest(const T* x, std::int64_t n) {
  Wide<T> max = std::numeric_limits<Wide<T>>::lowest();
  for (std::int64_t i = 0; i < n; ++i) max = widen(x[i]) > max ? widen(x[i]) : max;
  return max;
}

}  // namespace

double row_max(const double* x, std::int64_t n) {
  return largest(x, n);
}
float row_max(const float* x, std::int64_t n) {
  return largest(x, n);
}
float row_max(const Bf16* x, std::int64_t n) {
  return largest(x, n);
}

}  // namespace amsp::host
