#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace amsp {

// Of n values in order v[0] .. v[n-1], two definitions of a quantile that is one of them. They
// differ by one place at most; reports and traces keep the one that they began with.

/// Nearest rank: the least value that a share `p` in [0, 1] of all doesn't exceed, v[ceil(p n) -
/// 1].
template <class T>
T quantile(std::vector<T> values, double p) {
  std::sort(values.begin(), values.end());
  const auto rank = static_cast<std::size_t>(std::ceil(p * static_cast<double>(values.size())));
  return values.at(std::max<std::size_t>(rank, 1) - 1);
}

/// Nearest place: v[p (n - 1)], halves rounded up; so the upper one of two middle values. There
/// must be values.
template <class T>
T quantile_by_place(std::vector<T> values, double p) {
  const auto at = std::lround(p * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + at, values.end());
  return values[static_cast<std::size_t>(at)];
}

}  // namespace amsp
