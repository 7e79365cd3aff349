#include <algorithm>
#include <cmath>

#include "executor/host/kernels/kernels.h"
#include "executor/host/kernels/number.h"
#include "executor/host/kernels/vector_code.h"

namespace amsp::host {
namespace {

/// In double for every type: the sum over billions of fp32 squares must not depend much on how they
/// are spread over ranks.
template <typename G>
AMSP_VECTOR_CLONES double sum_of_squares(const G* grad, std::int64_t n) {
  double sum = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const double g = widen(grad[i]);
    sum += g * g;
  }
  return sum;
}

/// The numbers of a step that are the same for all its elements.
template <typename W>
struct Step {
  W grad_factor, beta1, beta2, rest1, rest2, correction1, correction2, eps, learning_rate, decay;
};

double clipping(const AdamW& work, double squares) {
  if (work.max_norm <= 0) return 1;
  return std::min(1.0, work.max_norm / (work.grad_scale * std::sqrt(squares) + 1e-6));
}

template <typename W>
Step<W> step_of(const AdamW& work) {
  AMSP_CHECK(work.step >= 1, "steps of AdamW count from 1, not {}", work.step);
  AMSP_CHECK(work.max_norm <= 0 || work.sum_of_squares, "clipping needs the sum of squares");
  const double squares =
      work.sum_of_squares ? static_cast<double>(*static_cast<const W*>(work.sum_of_squares)) : 0.0;
  const auto step = static_cast<double>(work.step);
  Step<W> result;
  result.grad_factor = static_cast<W>(work.grad_scale * clipping(work, squares));
  result.beta1 = static_cast<W>(work.beta1);
  result.beta2 = static_cast<W>(work.beta2);
  result.rest1 = static_cast<W>(1 - work.beta1);
  result.rest2 = static_cast<W>(1 - work.beta2);
  result.correction1 = static_cast<W>(1 / (1 - std::pow(work.beta1, step)));
  result.correction2 = static_cast<W>(1 / (1 - std::pow(work.beta2, step)));
  result.eps = static_cast<W>(work.eps);
  result.learning_rate = static_cast<W>(work.learning_rate);
  result.decay = static_cast<W>(work.weight_decay);
  return result;
}

template <typename T, typename G>
AMSP_VECTOR_CLONES void update(const AdamWPart& part, const Step<Wide<T>>& step) {
  using W = Wide<T>;
  W* const master = static_cast<W*>(part.master);
  W* const m = static_cast<W*>(part.m);
  W* const v = static_cast<W*>(part.v);
  const G* const grad = static_cast<const G*>(part.grad);
  T* const param = static_cast<T*>(part.param);
  const Step<W> s = step;
  const W decay = part.decay ? s.decay : W(0);
  AMSP_INDEPENDENT
  for (std::int64_t i = 0; i < part.n; ++i) {
    const W g = widen(grad[i]) * s.grad_factor;
    m[i] = s.beta1 * m[i] + s.rest1 * g;
    v[i] = s.beta2 * v[i] + s.rest2 * g * g;
    const W direction = m[i] * s.correction1 / (std::sqrt(v[i] * s.correction2) + s.eps);
    master[i] -= s.learning_rate * (direction + decay * master[i]);
    param[i] = round_to<T>(master[i]);
  }
}

}  // namespace

void run(const SumOfSquares& work) {
  double sum = 0;
  with_type(work.grad_type, [&](auto type) {
    for (const GradPart& part : work.parts)
      sum += sum_of_squares(static_cast<const decltype(type)*>(part.grad), part.n);
  });
  with_type(work.wide, [&](auto type) {
    using W = decltype(type);
    *static_cast<W*>(work.sum) = round_to<W>(sum);
  });
}

void run(const AdamW& work) {
  with_types(work.type, work.grad_type, [&](auto type, auto grad_type) {
    using T = decltype(type);
    const auto step = step_of<Wide<T>>(work);
    for (const AdamWPart& part : work.parts) update<T, decltype(grad_type)>(part, step);
  });
}

}  // namespace amsp::host
