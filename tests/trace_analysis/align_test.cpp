#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "trace_analysis/common_sequence.h"

namespace amsp {
namespace {

/// The length by the textbook table.
std::size_t longest(const std::vector<int>& a, const std::vector<int>& b) {
  std::vector<std::vector<std::size_t>> table(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 1; i <= a.size(); ++i)
    for (std::size_t j = 1; j <= b.size(); ++j)
      table[i][j] = a[i - 1] == b[j - 1] ? table[i - 1][j - 1] + 1
                                         : std::max(table[i - 1][j], table[i][j - 1]);
  return table[a.size()][b.size()];
}

TEST(CommonSequence, IsAsLongAsTheTextbookSays) {
  std::mt19937 random(7);
  for (int round = 0; round < 3000; ++round) {
    std::vector<int> a(random() % 12), b(random() % 12);
    for (auto* list : {&a, &b})
      for (int& value : *list) value = static_cast<int>(random() % 4);
    const CommonSequence common = common_sequence(a, b);
    ASSERT_EQ(common.pairs.size(), longest(a, b));
    for (std::size_t i = 0; i < common.pairs.size(); ++i) {
      const auto [x, y] = common.pairs[i];
      ASSERT_EQ(a[static_cast<std::size_t>(x)], b[static_cast<std::size_t>(y)]);
      if (i == 0) continue;
      ASSERT_LT(common.pairs[i - 1].first, x);
      ASSERT_LT(common.pairs[i - 1].second, y);
    }
    CommonSequence exchanged = common_sequence(b, a);
    for (auto& [x, y] : exchanged.pairs) std::swap(x, y);
    ASSERT_EQ(exchanged.pairs, common.pairs);
  }
}

TEST(CommonSequence, GivesUpButKeepsTheCommonEnds) {
  const CommonSequence common = common_sequence({1, 2, 3, 4, 9}, {1, 5, 6, 7, 9}, 3);
  EXPECT_TRUE(common.gave_up);
  EXPECT_EQ(common.pairs, (std::vector<std::pair<int, int>>{{0, 0}, {4, 4}}));
}

}  // namespace
}  // namespace amsp
