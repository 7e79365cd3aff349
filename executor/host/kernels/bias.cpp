#include <algorithm>

#include "executor/host/kernels/kernels.h"
#include "executor/host/kernels/number.h"
#include "executor/host/kernels/scratch.h"
#include "executor/host/kernels/vector_code.h"

namespace amsp::host {
namespace {

template <typename T>
AMSP_VECTOR_CLONES void add_bias(const AddBias& work) {
  const T* const bias = static_cast<const T*>(work.bias);
  for (std::int64_t row = 0; row < work.rows; ++row) {
    T* const y = static_cast<T*>(work.y) + row * work.stride;
    for (std::int64_t i = 0; i < work.n; ++i) y[i] = round_to<T>(widen(y[i]) + widen(bias[i]));
  }
}

template <typename T, typename G>
AMSP_VECTOR_CLONES void column_sum(const ColumnSum& work, Wide<T>* sums) {
  std::fill_n(sums, work.n, Wide<T>(0));
  for (std::int64_t row = 0; row < work.rows; ++row) {
    const T* const dy = static_cast<const T*>(work.dy) + row * work.stride;
    for (std::int64_t i = 0; i < work.n; ++i) sums[i] += widen(dy[i]);
  }
  G* const sum = static_cast<G*>(work.sum);
  if (work.accumulate)
    for (std::int64_t i = 0; i < work.n; ++i) sums[i] += widen(sum[i]);
  for (std::int64_t i = 0; i < work.n; ++i) sum[i] = round_to<G>(sums[i]);
}

}  // namespace

void run(const AddBias& work) {
  with_type(work.type, [&](auto type) { add_bias<decltype(type)>(work); });
}

void run(const ColumnSum& work) {
  with_types(work.type, work.grad_type, [&](auto type, auto grad_type) {
    using T = decltype(type);
    Scratch scratch;
    column_sum<T, decltype(grad_type)>(work, scratch.take<Wide<T>>(work.n));
  });
}

}  // namespace amsp::host
