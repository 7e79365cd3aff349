#pragma once

#include <cstdint>
#include <limits>

#include "executor/host/number.h"

namespace amsp::host {

/// The largest of x[n], -infinity for n = 0; NaNs are passed over. In lanes, since compilers don't
/// vectorise a maximum unless told that there are no NaNs.
template <typename T>
inline Wide<T> row_max(const T* x, std::int64_t n) {
  using W = Wide<T>;
  constexpr int kLanes = 16;
  W lanes[kLanes];
  for (W& lane : lanes) lane = -std::numeric_limits<W>::infinity();
  std::int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes)
    for (int lane = 0; lane < kLanes; ++lane) {
      const W value = widen(x[i + lane]);
      lanes[lane] = value > lanes[lane] ? value : lanes[lane];
    }
  W max = -std::numeric_limits<W>::infinity();
  for (const W lane : lanes) max = lane > max ? lane : max;
  for (; i < n; ++i) max = widen(x[i]) > max ? widen(x[i]) : max;
  return max;
}

}  // namespace amsp::host
