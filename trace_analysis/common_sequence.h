#pragma once

#include <utility>
#include <vector>

namespace amsp {

/// A longest common subsequence of two sequences: pairs of positions, both ascending. By Myers'
/// O((n + m) D) method, where D is how many elements are left over; common ends cost nothing.
/// Of several answers always the same one; with the sequences exchanged it is the same pairs,
/// exchanged. Sequences that differ by more than `most_differences` are not aligned beyond their
/// common ends; `gave_up` tells.
struct CommonSequence {
  std::vector<std::pair<int, int>> pairs;
  bool gave_up = false;
};
CommonSequence common_sequence(const std::vector<int>& a, const std::vector<int>& b,
                               int most_differences = 2000);

}  // namespace amsp
