#include <cmath>

#include "executor/host/kernels/kernels.h"
#include "executor/host/kernels/number.h"
#include "executor/host/kernels/scratch.h"
#include "executor/host/kernels/vector_code.h"

namespace amsp::host {
namespace {

/// Of the pairs of a head at one position; `sines` are negative for the way back.
AMSP_VECTOR_CLONES void fill_angles(int pairs, double position, double direction,
                                    const double* frequencies, double* cosines, double* sines) {
  // Two loops, or the compiler makes one scalar sincos of both.
  for (int i = 0; i < pairs; ++i) cosines[i] = std::cos(position * frequencies[i]);
  for (int i = 0; i < pairs; ++i) sines[i] = direction * std::sin(position * frequencies[i]);
}

template <typename T>
AMSP_VECTOR_CLONES void rotate(int pairs, const double* cosines, const double* sines, T* head) {
  using W = Wide<T>;
  T* const other = head + pairs;
  AMSP_INDEPENDENT
  for (int i = 0; i < pairs; ++i) {
    const W c = static_cast<W>(cosines[i]), s = static_cast<W>(sines[i]);
    const W x = widen(head[i]), y = widen(other[i]);
    head[i] = round_to<T>(x * c - y * s);
    other[i] = round_to<T>(x * s + y * c);
  }
}

template <typename T>
void rotary(const Rotary& work) {
  const int pairs = work.head_dim / 2;
  Scratch scratch;
  double* const frequencies = scratch.take<double>(pairs);
  double* const cosines = scratch.take<double>(pairs);
  double* const sines = scratch.take<double>(pairs);
  for (int i = 0; i < pairs; ++i) frequencies[i] = std::pow(work.theta, -2.0 * i / work.head_dim);
  for (int position = 0; position < work.sequence; ++position) {
    fill_angles(pairs, position, work.inverse ? -1.0 : 1.0, frequencies, cosines, sines);
    for (int sequence = 0; sequence < work.batch; ++sequence) {
      const std::int64_t token = static_cast<std::int64_t>(sequence) * work.sequence + position;
      T* const row = static_cast<T*>(work.x) + token * work.stride;
      for (int head = 0; head < work.heads; ++head)
        rotate(pairs, cosines, sines, row + static_cast<std::int64_t>(head) * work.head_dim);
    }
  }
}

}  // namespace

void run(const Rotary& work) {
  AMSP_CHECK(work.head_dim % 2 == 0, "rotary positions of heads of {}", work.head_dim);
  with_type(work.type, [&](auto type) { rotary<decltype(type)>(work); });
}

}  // namespace amsp::host
