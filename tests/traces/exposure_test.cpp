#include <gtest/gtest.h>

#include <numeric>
#include <set>

#include "tests/traces/toy_step.h"
#include "traces/timeline/analysis.h"

namespace amsp {
namespace {

using Sums = std::map<std::string, Nanoseconds>;

constexpr Nanoseconds kUs = 1000;

Nanoseconds total(const Sums& sums) {
  return std::accumulate(sums.begin(), sums.end(), Nanoseconds{0},
                         [](Nanoseconds sum, const auto& entry) { return sum + entry.second; });
}

TEST(BreakDown, MatchesHandCalculationOfTheEarlyRank) {
  const TaskGraph graph = toy_graph();
  const RankBreakdown sums = break_down(toy_timeline(graph), 0);
  EXPECT_EQ(sums.window, 220 * kUs);
  EXPECT_EQ(sums.compute, (40 + 20 + 30 + 20 + 30 + 30) * kUs);
  EXPECT_EQ(sums.communication, (10 + 35 + 15 + 20) * kUs);
  EXPECT_EQ(sums.overlapped, 30 * kUs) << "reduce-scatter 170..205 under dgrad 170..200";
  EXPECT_EQ(sums.exposed, (10 + 5 + 15 + 20) * kUs);
  EXPECT_EQ(sums.idle, 0);
  EXPECT_EQ(sums.exposed_by_class, (Sums{{"param_gather", 10 * kUs},
                                         {"grad_scatter", 5 * kUs},
                                         {"grad_reduce", 15 * kUs},
                                         {"param_update", 20 * kUs}}));
  EXPECT_EQ(sums.total_by_class, (Sums{{"param_gather", 10 * kUs},
                                       {"grad_scatter", 35 * kUs},
                                       {"grad_reduce", 15 * kUs},
                                       {"param_update", 20 * kUs}}));
  EXPECT_EQ(sums.waiting_by_class, (Sums{{"param_gather", 0},
                                         {"grad_scatter", 10 * kUs},
                                         {"grad_reduce", 0},
                                         {"param_update", 0}}));
}

TEST(BreakDown, WaitingForALateOwnerIsExposed) {
  const TaskGraph graph = toy_graph();
  const RankBreakdown sums = break_down(toy_timeline(graph), 1);
  EXPECT_EQ(sums.compute, (50 + 20 + 30 + 20 + 30 + 10) * kUs);
  EXPECT_EQ(sums.communication, (10 + 25 + 15 + 40) * kUs);
  EXPECT_EQ(sums.overlapped, (25 + 5) * kUs) << "dgrad 180..210 over both reductions";
  EXPECT_EQ(sums.exposed, (10 + 10 + 40) * kUs);
  EXPECT_EQ(sums.idle, 0);
  EXPECT_EQ(sums.exposed_by_class.at("param_update"), 40 * kUs);
  EXPECT_EQ(sums.waiting_by_class.at("param_update"), 20 * kUs) << "from 230 to 250";
}

TEST(BreakDown, SharesExposedTimeAmongActiveClasses) {
  // 0..10 a; 10..21 a and b and c; 21..25 b and c; 25..30 idle; compute 30..40
  const std::vector<ClassifiedEvent> events = {
      {0, 21, 0, "a"}, {10, 25, 0, "b"}, {10, 25, 0, "c"}, {30, 40, 0, ""}};
  const RankBreakdown sums = break_down(events, 0, 40);
  EXPECT_EQ(sums.exposed, 25);
  EXPECT_EQ(sums.idle, 5);
  // 11 ns among three: 3 each, 2 left over for the first
  EXPECT_EQ(sums.exposed_by_class, (Sums{{"a", 10 + 3 + 2}, {"b", 3 + 2}, {"c", 3 + 2}}));
  EXPECT_EQ(sums.total_by_class, (Sums{{"a", 21}, {"b", 15}, {"c", 15}}));
}

TEST(BreakDown, ComputeHidesEveryClass) {
  const std::vector<ClassifiedEvent> events = {
      {0, 20, 0, "a"}, {5, 15, 0, "b"}, {0, 10, 0, ""}, {8, 18, 0, ""}};
  const RankBreakdown sums = break_down(events, 0, 20);
  EXPECT_EQ(sums.compute, 18) << "a union, not a sum";
  EXPECT_EQ(sums.communication, 20);
  EXPECT_EQ(sums.overlapped, 18);
  EXPECT_EQ(sums.exposed_by_class, (Sums{{"a", 2}, {"b", 0}}));
}

TEST(BreakDown, ClipsEventsAndWaitsToTheWindow) {
  const std::vector<ClassifiedEvent> events = {
      {0, 30, 15, "a"},   // waits to 15, the window begins at 10
      {45, 90, 30, "b"},  // waits to 75, the window ends at 50
      {0, 10, 0, ""},     // before
      {50, 60, 0, "c"},   // after
  };
  const RankBreakdown sums = break_down(events, 10, 50);
  EXPECT_EQ(sums.window, 40);
  EXPECT_EQ(sums.compute, 0);
  EXPECT_EQ(sums.idle, 15);
  EXPECT_EQ(sums.total_by_class, (Sums{{"a", 20}, {"b", 5}}));
  EXPECT_EQ(sums.waiting_by_class, (Sums{{"a", 5}, {"b", 5}}));
}

TEST(BreakDown, EmptyWindowsAndEventsCountNothing) {
  EXPECT_EQ(break_down({{3, 9, 0, "a"}}, 5, 5), RankBreakdown{});
  RankBreakdown idle;
  idle.window = idle.idle = 10;
  EXPECT_EQ(break_down({{4, 4, 0, "a"}, {6, 6, 0, ""}}, 0, 10), idle);
}

/// Counts nanosecond by nanosecond.
RankBreakdown painted(const Timeline& timeline, Rank rank) {
  const TaskGraph& graph = timeline.graph();
  RankBreakdown sums;
  for (Nanoseconds t = to_ns(timeline.window_begin(rank)); t < to_ns(timeline.window_end(rank));
       ++t) {
    bool computing = false;
    bool communicating = false;
    for (const TraceEvent& event : all_events(timeline, rank)) {
      if (t < event.start || t >= event.end) continue;
      const std::string traffic = traffic_class(graph[event.task].key);
      (traffic.empty() ? computing : communicating) = true;
      if (traffic.empty()) continue;
      ++sums.total_by_class[traffic];
      sums.waiting_by_class[traffic] += t < event.start + event.wait ? 1 : 0;
    }
    ++sums.window;
    sums.compute += computing;
    sums.communication += communicating;
    sums.overlapped += computing && communicating;
    sums.exposed += communicating && !computing;
    sums.idle += !computing && !communicating;
  }
  return sums;
}

class RandomTimeline : public testing::TestWithParam<std::uint32_t> {};

TEST_P(RandomTimeline, PartsAddUpAndMatchPaintedTime) {
  const TaskGraph graph = random_graph(GetParam(), 40);
  const Timeline timeline = play_randomly(graph, GetParam());
  for (Rank rank = 0; rank < timeline.ranks(); ++rank) {
    SCOPED_TRACE(rank);
    const RankBreakdown sums = break_down(timeline, rank);
    EXPECT_EQ(sums.compute + sums.exposed + sums.idle, sums.window);
    EXPECT_EQ(sums.exposed + sums.overlapped, sums.communication);
    EXPECT_EQ(total(sums.exposed_by_class), sums.exposed);
    const RankBreakdown expected = painted(timeline, rank);
    EXPECT_EQ(sums.window, expected.window);
    EXPECT_EQ(sums.compute, expected.compute);
    EXPECT_EQ(sums.overlapped, expected.overlapped);
    EXPECT_EQ(sums.exposed, expected.exposed);
    EXPECT_EQ(sums.idle, expected.idle);
    EXPECT_EQ(sums.total_by_class, expected.total_by_class);
    EXPECT_EQ(sums.waiting_by_class, expected.waiting_by_class);
  }
}

INSTANTIATE_TEST_SUITE_P(, RandomTimeline, testing::Range(0U, 20U));

}  // namespace
}  // namespace amsp
