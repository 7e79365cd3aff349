#include "planner/search/ranking.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace amsp {
namespace {

Rated rated(double seconds, std::int64_t bytes) {
  return {Seconds{seconds}, Bytes{bytes}};
}

using Order = std::vector<std::size_t>;

TEST(Ranking, TakesTheFastestIfNothingTies) {
  EXPECT_EQ(rank({rated(3, 1), rated(1, 9), rated(2, 5)}), (Order{1, 2, 0}));
}

TEST(Ranking, GivesATieToLowerMemory) {
  // 1.009 is within 1 % of 1, 1.011 is not
  EXPECT_EQ(rank({rated(1, 9), rated(1.009, 2), rated(1.011, 1)}), (Order{1, 0, 2}));
}

TEST(Ranking, MeasuresTiesFromTheFastestLeft) {
  // once 1.00 is placed, 1.009 is the fastest left, and 1.018 ties with it
  EXPECT_EQ(rank({rated(1, 1), rated(1.009, 9), rated(1.018, 5)}), (Order{0, 2, 1}));
}

TEST(Ranking, OrdersEqualMemoryByTimeThenByIndex) {
  EXPECT_EQ(rank({rated(1.005, 4), rated(1, 4), rated(1, 4)}), (Order{1, 2, 0}));
}

std::vector<Rated> random_rated(std::mt19937& random) {
  std::vector<Rated> all;
  std::uniform_int_distribution<int> time(1000, 1100), memory(1, 20), count(0, 40);
  for (int left = count(random); left > 0; --left)
    all.push_back(rated(time(random) / 1000.0, memory(random)));
  return all;
}

bool no_worse(const Rated& a, const Rated& b) {
  return a.time <= b.time && a.memory <= b.memory;
}

TEST(Ranking, NeverPutsOneBehindAnotherThatCostsAtLeastAsMuchOfBoth) {
  std::mt19937 random(7);
  for (int round = 0; round < 500; ++round) {
    const std::vector<Rated> all = random_rated(random);
    const Order order = rank(all);
    ASSERT_EQ(order.size(), all.size());
    for (std::size_t i = 0; i < order.size(); ++i)
      for (std::size_t j = i + 1; j < order.size(); ++j) {
        const Rated &before = all[order[i]], &after = all[order[j]];
        EXPECT_TRUE(!no_worse(after, before) || no_worse(before, after));
      }
  }
}

TEST(Ranking, ParetoFrontIsWhatNothingBeats) {
  std::mt19937 random(11);
  for (int round = 0; round < 500; ++round) {
    const std::vector<Rated> all = random_rated(random);
    Order expected;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const bool beaten = std::any_of(all.begin(), all.end(), [&](const Rated& other) {
        return no_worse(other, all[i]) && !no_worse(all[i], other);
      });
      const bool again = std::any_of(
          all.begin(), all.begin() + static_cast<std::ptrdiff_t>(i),
          [&](const Rated& other) { return no_worse(other, all[i]) && no_worse(all[i], other); });
      if (!beaten && !again) expected.push_back(i);
    }
    Order front = pareto_front(all);
    EXPECT_TRUE(std::is_sorted(front.begin(), front.end(),
                               [&](auto a, auto b) { return all[a].time < all[b].time; }));
    std::sort(front.begin(), front.end());
    EXPECT_EQ(front, expected);
  }
}

}  // namespace
}  // namespace amsp
