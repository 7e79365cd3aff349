#include <gtest/gtest.h>

#include <numeric>
#include <set>

#include "tests/traces/toy_step.h"
#include "traces/timeline/analysis.h"

namespace amsp {
namespace {

using Sums = std::map<std::string, Nanoseconds>;

constexpr Nanoseconds kUs = 1000_ns;

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
  EXPECT_EQ(sums.idle, 0_ns);
  EXPECT_EQ(sums.exposed_by_class, (Sums{{"param_gather", 10 * kUs},
                                         {"grad_scatter", 5 * kUs},
                                         {"grad_reduce", 15 * kUs},
                                         {"param_update", 20 * kUs}}));
  EXPECT_EQ(sums.total_by_class, (Sums{{"param_gather", 10 * kUs},
                                       {"grad_scatter", 35 * kUs},
                                       {"grad_reduce", 15 * kUs},
                                       {"param_update", 20 * kUs}}));
  EXPECT_EQ(sums.waiting_by_class, (Sums{{"param_gather", 0_ns},
                                         {"grad_scatter", 10 * kUs},
                                         {"grad_reduce", 0_ns},
                                         {"param_update", 0_ns}}));
}

TEST(BreakDown, WaitingForALateOwnerIsExposed) {
  const TaskGraph graph = toy_graph();
  const RankBreakdown sums = break_down(toy_timeline(graph), 1);
  EXPECT_EQ(sums.compute, (50 + 20 + 30 + 20 + 30 + 10) * kUs);
  EXPECT_EQ(sums.communication, (10 + 25 + 15 + 40) * kUs);
  EXPECT_EQ(sums.overlapped, (25 + 5) * kUs) << "dgrad 180..210 over both reductions";
  EXPECT_EQ(sums.exposed, (10 + 10 + 40) * kUs);
  EXPECT_EQ(sums.idle, 0_ns);
  EXPECT_EQ(sums.exposed_by_class.at("param_update"), 40 * kUs);
  EXPECT_EQ(sums.waiting_by_class.at("param_update"), 20 * kUs) << "from 230 to 250";
}

TEST(BreakDown, SharesExposedTimeAmongActiveClasses) {
  // 0..10 a; 10..21 a and b and c; 21..25 b and c; 25..30 idle; compute 30..40
  const std::vector<ClassifiedEvent> events = {{0_ns, 21_ns, 0_ns, "a"},
                                               {10_ns, 25_ns, 0_ns, "b"},
                                               {10_ns, 25_ns, 0_ns, "c"},
                                               {30_ns, 40_ns, 0_ns, ""}};
  const RankBreakdown sums = break_down(events, 0_ns, 40_ns);
  EXPECT_EQ(sums.exposed, 25_ns);
  EXPECT_EQ(sums.idle, 5_ns);
  // 11 ns among three: 3 each, 2 left over for the first
  EXPECT_EQ(sums.exposed_by_class, (Sums{{"a", 15_ns}, {"b", 5_ns}, {"c", 5_ns}}));
  EXPECT_EQ(sums.total_by_class, (Sums{{"a", 21_ns}, {"b", 15_ns}, {"c", 15_ns}}));
}

TEST(BreakDown, ComputeHidesEveryClass) {
  const std::vector<ClassifiedEvent> events = {{0_ns, 20_ns, 0_ns, "a"},
                                               {5_ns, 15_ns, 0_ns, "b"},
                                               {0_ns, 10_ns, 0_ns, ""},
                                               {8_ns, 18_ns, 0_ns, ""}};
  const RankBreakdown sums = break_down(events, 0_ns, 20_ns);
  EXPECT_EQ(sums.compute, 18_ns) << "a union, not a sum";
  EXPECT_EQ(sums.communication, 20_ns);
  EXPECT_EQ(sums.overlapped, 18_ns);
  EXPECT_EQ(sums.exposed_by_class, (Sums{{"a", 2_ns}, {"b", 0_ns}}));
}

TEST(BreakDown, ClipsEventsAndWaitsToTheWindow) {
  const std::vector<ClassifiedEvent> events = {
      {0_ns, 30_ns, 15_ns, "a"},   // waits to 15, the window begins at 10
      {45_ns, 90_ns, 30_ns, "b"},  // waits to 75, the window ends at 50
      {0_ns, 10_ns, 0_ns, ""},     // before
      {50_ns, 60_ns, 0_ns, "c"},   // after
  };
  const RankBreakdown sums = break_down(events, 10_ns, 50_ns);
  EXPECT_EQ(sums.window, 40_ns);
  EXPECT_EQ(sums.compute, 0_ns);
  EXPECT_EQ(sums.idle, 15_ns);
  EXPECT_EQ(sums.total_by_class, (Sums{{"a", 20_ns}, {"b", 5_ns}}));
  EXPECT_EQ(sums.waiting_by_class, (Sums{{"a", 5_ns}, {"b", 5_ns}}));
}

TEST(BreakDown, EmptyWindowsAndEventsCountNothing) {
  EXPECT_EQ(break_down({{3_ns, 9_ns, 0_ns, "a"}}, 5_ns, 5_ns), RankBreakdown{});
  RankBreakdown idle;
  idle.window = idle.idle = 10_ns;
  EXPECT_EQ(break_down({{4_ns, 4_ns, 0_ns, "a"}, {6_ns, 6_ns, 0_ns, ""}}, 0_ns, 10_ns), idle);
}

/// Counts nanosecond by nanosecond.
RankBreakdown painted(const Timeline& timeline, Rank rank) {
  const TaskGraph& graph = timeline.graph();
  RankBreakdown sums;
  for (Nanoseconds t = to_ns(timeline.window_begin(rank)); t < to_ns(timeline.window_end(rank));
       t += 1_ns) {
    bool computing = false;
    bool communicating = false;
    for (const TraceEvent& event : all_events(timeline, rank)) {
      if (t < event.start || t >= event.end) continue;
      const std::string traffic = traffic_class(graph[event.task].key);
      (traffic.empty() ? computing : communicating) = true;
      if (traffic.empty()) continue;
      sums.total_by_class[traffic] += 1_ns;
      sums.waiting_by_class[traffic] += t < event.start + event.wait ? 1_ns : 0_ns;
    }
    sums.window += 1_ns;
    sums.compute += computing ? 1_ns : 0_ns;
    sums.communication += communicating ? 1_ns : 0_ns;
    sums.overlapped += computing && communicating ? 1_ns : 0_ns;
    sums.exposed += communicating && !computing ? 1_ns : 0_ns;
    sums.idle += !computing && !communicating ? 1_ns : 0_ns;
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
