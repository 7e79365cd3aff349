#include <algorithm>
#include <cmath>

#include "executor/host/kernels/kernels.h"
#include "executor/host/kernels/number.h"
#include "executor/host/kernels/scratch.h"
#include "executor/host/kernels/vector_code.h"

namespace amsp::host {
namespace {

template <typename T>
AMSP_VECTOR_CLONES void rms_norm(const RmsNorm& work) {
  using W = Wide<T>;
  const T* const weight = static_cast<const T*>(work.weight);
  for (std::int64_t row = 0; row < work.rows; ++row) {
    const T* const x = static_cast<const T*>(work.x) + row * work.n;
    T* const y = static_cast<T*>(work.y) + row * work.n;
    W squares = 0;
    for (std::int64_t i = 0; i < work.n; ++i) squares += widen(x[i]) * widen(x[i]);
    const W rstd = W(1) / std::sqrt(squares / static_cast<W>(work.n) + static_cast<W>(work.eps));
    static_cast<W*>(work.rstd)[row] = rstd;
    AMSP_INDEPENDENT
    for (std::int64_t i = 0; i < work.n; ++i)
      y[i] = round_to<T>(widen(x[i]) * rstd * widen(weight[i]));
  }
}

/// With g = dy * weight and c = rstd^2 mean(g x): dx = rstd (g - c x), dweight = sum of dy x rstd.
template <typename T, typename G>
AMSP_VECTOR_CLONES void rms_norm_backward(const RmsNormBackward& work, Wide<T>* sums) {
  using W = Wide<T>;
  const T* const weight = static_cast<const T*>(work.weight);
  std::fill_n(sums, work.n, W(0));
  for (std::int64_t row = 0; row < work.rows; ++row) {
    const T* const x = static_cast<const T*>(work.x) + row * work.n;
    const T* const dy = static_cast<const T*>(work.dy) + row * work.n;
    T* const dx = static_cast<T*>(work.dx) + row * work.n;
    const W rstd = static_cast<const W*>(work.rstd)[row];
    W product = 0;
    for (std::int64_t i = 0; i < work.n; ++i)
      product += widen(dy[i]) * widen(weight[i]) * widen(x[i]);
    const W c = rstd * rstd * product / static_cast<W>(work.n);
    AMSP_INDEPENDENT
    for (std::int64_t i = 0; i < work.n; ++i) {
      const W dyi = widen(dy[i]), xi = widen(x[i]);
      sums[i] += dyi * xi * rstd;
      dx[i] = round_to<T>(rstd * (dyi * widen(weight[i]) - c * xi));
    }
  }
  G* const dweight = static_cast<G*>(work.dweight);
  if (work.accumulate)
    for (std::int64_t i = 0; i < work.n; ++i) sums[i] += widen(dweight[i]);
  for (std::int64_t i = 0; i < work.n; ++i) dweight[i] = round_to<G>(sums[i]);
}

}  // namespace

void run(const RmsNorm& work) {
  with_type(work.type, [&](auto type) { rms_norm<decltype(type)>(work); });
}

void run(const RmsNormBackward& work) {
  with_types(work.type, work.grad_type, [&](auto type, auto grad_type) {
    using T = decltype(type);
    Scratch scratch;
    rms_norm_backward<T, decltype(grad_type)>(work, scratch.take<Wide<T>>(work.n));
  });
}

}  // namespace amsp::host
