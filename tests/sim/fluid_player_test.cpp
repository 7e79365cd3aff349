#include "sim/fluid_player.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "core/error.h"
#include "tests/sim/workload_maker.h"

namespace amsp {
namespace {

constexpr double kTolerance = 1e-12;

TEST(FluidPlayer, AnActivityAloneTakesItsNominalTime) {
  WorkloadMaker w(2);
  const int a = w.activity(2.5, {{0, 10}, {1, 3}});
  const int b = w.activity(0.75, {}, {a});
  const ActivityTimes times = w.play();
  EXPECT_NEAR(times.end_s[static_cast<std::size_t>(a)], 2.5, kTolerance);
  EXPECT_NEAR(times.start_s[static_cast<std::size_t>(b)], 2.5, kTolerance);
  EXPECT_NEAR(times.end_s[static_cast<std::size_t>(b)], 3.25, kTolerance);
}

TEST(FluidPlayer, TwoThatNeedAllOfOneResourceRunAtHalfPace) {
  WorkloadMaker w(1);
  w.activity(1, {{0, 10}});
  w.activity(2, {{0, 10}});
  const ActivityTimes times = w.play();
  // Both at pace 1/2 until 2 s; then the second has 1 s left at pace 1.
  EXPECT_NEAR(times.end_s[0], 2, kTolerance);
  EXPECT_NEAR(times.end_s[1], 3, kTolerance);
}

TEST(FluidPlayer, SharesPaceNotConsumption) {
  WorkloadMaker w(1);
  w.activity(1, {{0, 10}});
  w.activity(1, {{0, 2}});
  // Equal pace x: 10 x + 2 x = 10, x = 5/6 for both.
  const ActivityTimes times = w.play();
  EXPECT_NEAR(times.end_s[0], 1.2, kTolerance);
  EXPECT_NEAR(times.end_s[1], 1.2, kTolerance);
}

TEST(FluidPlayer, PaceNeverExceedsOne) {
  WorkloadMaker w(1);
  w.activity(1, {{0, 3}});
  w.activity(2, {{0, 3}});
  const ActivityTimes times = w.play();  // 6 of 10 in use: nobody waits
  EXPECT_NEAR(times.end_s[0], 1, kTolerance);
  EXPECT_NEAR(times.end_s[1], 2, kTolerance);
}

TEST(FluidPlayer, LockStepOverAllResourcesIsMaxMin) {
  // a on r0 and r1, b on r0, c on r1 (weight 5). On r0 a and b get 1/2 each. Then r1 holds
  // 10 x 1/2 + 5 c <= 10, so c runs at its cap of 1.
  WorkloadMaker w(2);
  const int a = w.activity(1, {{0, 10}, {1, 10}});
  w.activity(1, {{0, 10}});
  const int c = w.activity(1, {{1, 5}});
  const ActivityTimes times = w.play();
  EXPECT_NEAR(times.end_s[static_cast<std::size_t>(a)], 2, kTolerance);
  EXPECT_NEAR(times.end_s[static_cast<std::size_t>(c)], 1, kTolerance);
}

TEST(FluidPlayer, MicrosecondTasksDoNotDrift) {
  WorkloadMaker w(1);
  int last = w.activity(3e-6, {{0, 10}});
  for (int i = 1; i < 10000; ++i) last = w.activity(3e-6, {{0, 10}}, {last});
  EXPECT_NEAR(w.play().end_s.back(), 0.03, 1e-10);
}

TEST(FluidPlayer, NothingTakesNoTime) {
  WorkloadMaker w(1);
  const int a = w.activity(0, {});
  const int b = w.activity(0, {}, {a, a});
  w.activity(1, {{0, 1}}, {b});
  const ActivityTimes times = w.play();
  EXPECT_EQ(times.end_s[static_cast<std::size_t>(b)], 0);
  EXPECT_NEAR(times.end_s.back(), 1, kTolerance);
}

TEST(FluidPlayer, ALongChainOfInstantActivitiesIsNoRecursion) {
  WorkloadMaker w(1);
  int last = w.activity(1e-3, {{0, 1}});
  for (int i = 0; i < 200000; ++i) last = w.activity(0, {}, {last});
  EXPECT_NEAR(w.play().end_s.back(), 1e-3, kTolerance);
}

TEST(FluidPlayer, AStuckSimulationNamesWhoWaitsForWhom) {
  WorkloadMaker w(1);
  w.activity(1, {{0, 1}});
  w.activity(1, {{0, 1}}, {2});
  w.activity(1, {{0, 1}}, {0, 1});
  try {
    w.play();
    FAIL() << "was not stuck";
  } catch (const InternalError& error) {
    EXPECT_STREQ(error.what(),
                 "the simulation is stuck: 2 of 3 activities never ran; who waits for what:\n"
                 "  activity 1 waits for activity 2\n"
                 "  activity 2 waits for activity 1");
  }
}

TEST(FluidPlayer, RunsAgainAfterAStuckOne) {
  WorkloadMaker w(1);
  w.activity(1, {{0, 1}});
  EXPECT_NEAR(w.play().end_s[0], 1, kTolerance);
}

/// A second solver, twenty lines, for random workloads without dependencies: progressive filling
/// by definition, one event at a time.
std::vector<double> reference(const Workload& workload) {
  const std::size_t n = workload.activities.size();
  std::vector<double> left(n), end(n, -1);
  for (std::size_t i = 0; i < n; ++i) left[i] = workload.activities[i].nominal_s;
  double now = 0;
  for (std::size_t done = 0; done < n;) {
    std::vector<double> pace(n, 0);
    std::vector<bool> fixed(n);
    for (std::size_t i = 0; i < n; ++i) fixed[i] = end[i] >= 0;
    double level = 0;
    while (std::find(fixed.begin(), fixed.end(), false) != fixed.end()) {
      double step = 1 - level;
      for (std::size_t r = 0; r < workload.scales.size(); ++r) {
        double rest = workload.scales[r];
        double open = 0;
        for (std::size_t i = 0; i < n; ++i)
          for (const Workload::Use& use : workload.shapes[i].uses)
            if (use.resource == static_cast<int>(r) && end[i] < 0) {
              rest -= use.weight * (fixed[i] ? pace[i] : level);
              if (!fixed[i]) open += use.weight;
            }
        if (open > 0) step = std::min(step, rest / open);
      }
      level += step;
      for (std::size_t r = 0; r < workload.scales.size(); ++r) {
        double used = 0;
        for (std::size_t i = 0; i < n; ++i)
          for (const Workload::Use& use : workload.shapes[i].uses)
            if (use.resource == static_cast<int>(r) && end[i] < 0)
              used += use.weight * (fixed[i] ? pace[i] : level);
        if (used < workload.scales[r] * (1 - 1e-12)) continue;
        for (std::size_t i = 0; i < n; ++i)
          for (const Workload::Use& use : workload.shapes[i].uses)
            if (use.resource == static_cast<int>(r) && !fixed[i]) fixed[i] = true, pace[i] = level;
      }
      if (level >= 1 - 1e-12)
        for (std::size_t i = 0; i < n; ++i)
          if (!fixed[i]) fixed[i] = true, pace[i] = 1;
    }
    double next = 1e300;
    for (std::size_t i = 0; i < n; ++i)
      if (end[i] < 0) next = std::min(next, left[i] / pace[i]);
    now += next;
    for (std::size_t i = 0; i < n; ++i)
      if (end[i] < 0 && (left[i] -= next * pace[i]) < 1e-12) end[i] = now, ++done;
  }
  return end;
}

TEST(FluidPlayer, AgreesWithProgressiveFillingOnRandomWorkloads) {
  std::uint32_t state = 12345;
  const auto random = [&](int bound) {
    state = state * 1664525 + 1013904223;
    return static_cast<int>((state >> 8) % static_cast<std::uint32_t>(bound));
  };
  for (int trial = 0; trial < 40; ++trial) {
    WorkloadMaker w(4);
    for (int i = 0; i < 6; ++i) {
      std::vector<Workload::Use> uses;
      for (int r = 0; r < 4; ++r)
        if (random(2) == 0) uses.push_back({r, 1 + random(10)});
      if (uses.empty()) uses.push_back({0, 1});
      w.activity(0.5 + 0.25 * random(8), uses);
    }
    const ActivityTimes times = w.play();
    const std::vector<double> expected = reference(w.workload_);
    for (std::size_t i = 0; i < expected.size(); ++i)
      EXPECT_NEAR(times.end_s[i], expected[i], 1e-9) << "trial " << trial << " activity " << i;
  }
}

}  // namespace
}  // namespace amsp
