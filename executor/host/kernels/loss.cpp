#include <cmath>

#include "executor/host/kernels/kernels.h"
#include "executor/host/kernels/number.h"
#include "executor/host/kernels/row_max.h"
#include "executor/host/kernels/vector_code.h"

namespace amsp::host {
namespace {

std::int32_t target_of(const std::int32_t* targets, std::int64_t row, std::int64_t vocab) {
  const std::int32_t target = targets[row];
  if (target < 0 || target >= vocab)
    throw DeviceError(fmt::format("target {} of the batch is {}, outside the vocabulary of {}", row,
                                  target, vocab));
  return target;
}

template <typename T>
AMSP_VECTOR_CLONES Wide<T> log_sum_exp(const T* x, std::int64_t n) {
  using W = Wide<T>;
  const W max = row_max(x, n);
  W sum = 0;
  for (std::int64_t i = 0; i < n; ++i) sum += std::exp(widen(x[i]) - max);
  return max + std::log(sum);
}

template <typename T>
void cross_entropy(const CrossEntropy& work) {
  using W = Wide<T>;
  double sum = 0;
  for (std::int64_t row = 0; row < work.rows; ++row) {
    const T* const logits = static_cast<const T*>(work.logits) + row * work.vocab;
    const std::int32_t target = target_of(work.targets, row, work.vocab);
    const W lse = log_sum_exp(logits, work.vocab);
    static_cast<W*>(work.lse)[row] = lse;
    sum += static_cast<double>(lse - widen(logits[target]));
  }
  *static_cast<W*>(work.loss) = static_cast<W>(sum / static_cast<double>(work.rows));
}

template <typename T>
AMSP_VECTOR_CLONES void scaled_softmax(T* x, std::int64_t n, Wide<T> lse, Wide<T> scale) {
  for (std::int64_t i = 0; i < n; ++i) x[i] = round_to<T>(std::exp(widen(x[i]) - lse) * scale);
}

template <typename T>
void cross_entropy_backward(const CrossEntropyBackward& work) {
  using W = Wide<T>;
  const W scale = W(1) / static_cast<W>(work.rows);
  for (std::int64_t row = 0; row < work.rows; ++row) {
    T* const logits = static_cast<T*>(work.logits) + row * work.vocab;
    const std::int32_t target = target_of(work.targets, row, work.vocab);
    const W lse = static_cast<const W*>(work.lse)[row];
    const W at_target = (std::exp(widen(logits[target]) - lse) - W(1)) * scale;
    scaled_softmax(logits, work.vocab, lse, scale);
    logits[target] = round_to<T>(at_target);
  }
}

}  // namespace

void run(const CrossEntropy& work) {
  with_type(work.type, [&](auto type) { cross_entropy<decltype(type)>(work); });
}

void run(const CrossEntropyBackward& work) {
  with_type(work.type, [&](auto type) { cross_entropy_backward<decltype(type)>(work); });
}

}  // namespace amsp::host
