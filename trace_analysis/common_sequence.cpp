#include "trace_analysis/common_sequence.h"

#include <algorithm>

namespace amsp {
namespace {

/// The furthest reaching x on every diagonal, one row for each number of differences.
using Rows = std::vector<std::vector<int>>;

/// Follows the rows back from the end and collects the matched pairs.
void trace_back(const Rows& rows, int n, int m, int offset, std::vector<std::pair<int, int>>& out) {
  int x = n, y = m;
  for (int d = static_cast<int>(rows.size()) - 1; d >= 0; --d) {
    const std::vector<int>& row = rows[static_cast<std::size_t>(d)];
    const auto at = [&](int k) { return row[static_cast<std::size_t>(k + d)]; };
    const int k = x - y;
    int previous_x = 0, previous_y = 0;
    if (d > 0) {
      const bool down = k == -d || (k != d && at(k - 1) < at(k + 1));
      const int previous = down ? k + 1 : k - 1;
      previous_x = at(previous);
      previous_y = previous_x - previous;
    }
    while (x > previous_x && y > previous_y) {
      --x;
      --y;
      out.emplace_back(x + offset, y + offset);
    }
    x = previous_x;
    y = previous_y;
  }
  std::reverse(out.begin(), out.end());
}

}  // namespace

CommonSequence common_sequence(const std::vector<int>& a, const std::vector<int>& b,
                               int most_differences) {
  if (a.size() > b.size() || (a.size() == b.size() && a > b)) {
    CommonSequence swapped = common_sequence(b, a, most_differences);
    for (auto& [first, second] : swapped.pairs) std::swap(first, second);
    return swapped;
  }
  CommonSequence result;
  int head = 0;
  const int shorter = static_cast<int>(a.size());
  while (head < shorter && a[static_cast<std::size_t>(head)] == b[static_cast<std::size_t>(head)]) {
    result.pairs.emplace_back(head, head);
    ++head;
  }
  int tail = 0;
  const auto from_end = [](const std::vector<int>& list, int i) {
    return list[list.size() - 1 - static_cast<std::size_t>(i)];
  };
  while (tail < shorter - head && from_end(a, tail) == from_end(b, tail)) ++tail;

  const int n = static_cast<int>(a.size()) - head - tail;
  const int m = static_cast<int>(b.size()) - head - tail;
  std::vector<std::pair<int, int>> middle;
  if (n > 0 && m > 0) {
    // rows[d][k + d]: state before the d-th difference is added, for k = -d .. d
    Rows rows;
    std::vector<int> furthest(static_cast<std::size_t>(2 * (n + m) + 3), 0);
    const int zero = n + m + 1;
    const auto best = [&](int k) -> int& { return furthest[static_cast<std::size_t>(zero + k)]; };
    bool done = false;
    for (int d = 0; d <= n + m && !done; ++d) {
      if (d > most_differences) {
        result.gave_up = true;
        break;
      }
      rows.emplace_back(furthest.begin() + (zero - d), furthest.begin() + (zero + d + 1));
      for (int k = -d; k <= d && !done; k += 2) {
        int x = k == -d || (k != d && best(k - 1) < best(k + 1)) ? best(k + 1) : best(k - 1) + 1;
        int y = x - k;
        if (d == 0) x = y = 0;
        while (x < n && y < m &&
               a[static_cast<std::size_t>(head + x)] == b[static_cast<std::size_t>(head + y)]) {
          ++x;
          ++y;
        }
        best(k) = x;
        done = x >= n && y >= m;
      }
    }
    if (!result.gave_up) trace_back(rows, n, m, head, middle);
  }
  result.pairs.insert(result.pairs.end(), middle.begin(), middle.end());
  for (int i = tail; i > 0; --i)
    result.pairs.emplace_back(static_cast<int>(a.size()) - i, static_cast<int>(b.size()) - i);
  return result;
}

}  // namespace amsp
