#include <cmath>

#include "executor/host/kernels/kernels.h"
#include "executor/host/kernels/number.h"
#include "executor/host/kernels/vector_code.h"

namespace amsp::host {
namespace {

template <typename T>
AMSP_VECTOR_CLONES void swiglu(const SwiGlu& work) {
  using W = Wide<T>;
  for (std::int64_t row = 0; row < work.rows; ++row) {
    const T* const gate = static_cast<const T*>(work.gate) + row * work.stride;
    const T* const up = static_cast<const T*>(work.up) + row * work.stride;
    T* const y = static_cast<T*>(work.y) + row * work.n;
    AMSP_INDEPENDENT
    for (std::int64_t i = 0; i < work.n; ++i) {
      const W g = widen(gate[i]);
      y[i] = round_to<T>(g / (W(1) + std::exp(-g)) * widen(up[i]));
    }
  }
}

/// With s = 1 / (1 + exp(-gate)): dup = dy gate s, dgate = dy up s (1 + gate (1 - s)).
template <typename T>
AMSP_VECTOR_CLONES void swiglu_backward(const SwiGluBackward& work) {
  using W = Wide<T>;
  for (std::int64_t row = 0; row < work.rows; ++row) {
    const T* const gate = static_cast<const T*>(work.gate) + row * work.stride;
    const T* const up = static_cast<const T*>(work.up) + row * work.stride;
    const T* const dy = static_cast<const T*>(work.dy) + row * work.n;
    T* const dgate = static_cast<T*>(work.dgate) + row * work.stride;
    T* const dup = static_cast<T*>(work.dup) + row * work.stride;
    AMSP_INDEPENDENT
    for (std::int64_t i = 0; i < work.n; ++i) {
      const W g = widen(gate[i]), u = widen(up[i]), d = widen(dy[i]);
      const W s = W(1) / (W(1) + std::exp(-g));
      dup[i] = round_to<T>(d * g * s);
      dgate[i] = round_to<T>(d * u * s * (W(1) + g * (W(1) - s)));
    }
  }
}

}  // namespace

void run(const SwiGlu& work) {
  with_type(work.type, [&](auto type) { swiglu<decltype(type)>(work); });
}

void run(const SwiGluBackward& work) {
  with_type(work.type, [&](auto type) { swiglu_backward<decltype(type)>(work); });
}

}  // namespace amsp::host
