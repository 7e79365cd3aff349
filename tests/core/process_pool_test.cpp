#include "core/process_pool.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <new>
#include <thread>

#include "core/error.h"

namespace amsp {
namespace {

constexpr auto kGoOn = [](std::size_t) { return true; };

struct Heard {
  std::vector<std::size_t> order;
  std::vector<JobOutcome> outcomes;
};

Heard run(std::size_t count, int workers,
          const std::function<std::vector<double>(std::size_t)>& job) {
  Heard heard;
  const std::size_t ended = run_jobs(
      count, workers, job,
      [&](std::size_t i, const JobOutcome& outcome) {
        heard.order.push_back(i);
        heard.outcomes.push_back(outcome);
      },
      kGoOn);
  EXPECT_EQ(ended, count);
  return heard;
}

TEST(ProcessPool, ReportsInOrderWhateverTheNumberOfWorkers) {
  for (const int workers : {1, 2, 3, 50}) {
    const Heard heard = run(20, workers, [](std::size_t i) {
      // early jobs last longer
      std::this_thread::sleep_for(std::chrono::milliseconds(i < 3 ? 20 : 0));
      return std::vector<double>(i, static_cast<double>(i));
    });
    ASSERT_EQ(heard.order.size(), 20U);
    for (std::size_t i = 0; i < 20; ++i) {
      EXPECT_EQ(heard.order[i], i);
      EXPECT_EQ(heard.outcomes[i].kind, JobOutcome::Kind::kValues);
      EXPECT_EQ(heard.outcomes[i].values, std::vector<double>(i, static_cast<double>(i)));
    }
  }
}

TEST(ProcessPool, NothingToDoIsDone) {
  EXPECT_EQ(run(0, 4, [](std::size_t) { return std::vector<double>{}; }).order.size(), 0U);
}

TEST(ProcessPool, CarriesLargeResults) {
  const Heard heard = run(2, 2, [](std::size_t) { return std::vector<double>(1 << 20, 0.5); });
  EXPECT_EQ(heard.outcomes[1].values.size(), std::size_t{1} << 20);
}

TEST(ProcessPool, CarriesErrorsByKind) {
  const Heard heard = run(4, 2, [](std::size_t i) -> std::vector<double> {
    if (i == 0) throw ConfigError("no such key");
    if (i == 1) throw InfeasibleError("no such plan");
    if (i == 2) throw std::bad_alloc();
    return {1};
  });
  EXPECT_EQ(heard.outcomes[0].kind, JobOutcome::Kind::kConfigError);
  EXPECT_EQ(heard.outcomes[0].message, "no such key");
  EXPECT_EQ(heard.outcomes[1].kind, JobOutcome::Kind::kInfeasible);
  EXPECT_EQ(heard.outcomes[1].message, "no such plan");
  EXPECT_EQ(heard.outcomes[2].kind, JobOutcome::Kind::kInternal);
  EXPECT_EQ(heard.outcomes[3].kind, JobOutcome::Kind::kValues);
}

TEST(ProcessPool, ADeadChildCostsItsJobOnly) {
  const Heard heard = run(6, 2, [](std::size_t i) -> std::vector<double> {
    if (i == 1) ::kill(::getpid(), SIGKILL);
    if (i == 4) ::_exit(7);
    return {static_cast<double>(i)};
  });
  for (std::size_t i = 0; i < 6; ++i)
    EXPECT_EQ(heard.outcomes[i].kind,
              i == 1 || i == 4 ? JobOutcome::Kind::kInternal : JobOutcome::Kind::kValues);
  EXPECT_EQ(heard.outcomes[1].message, "its process was ended by signal 9");
  EXPECT_EQ(heard.outcomes[4].message, "its process ended with code 7");
}

TEST(ProcessPool, StopsWhenToldAndReportsWhatIsComplete) {
  std::vector<std::size_t> heard;
  const std::size_t ended = run_jobs(
      10, 2,
      [](std::size_t i) -> std::vector<double> {
        if (i == 0 || i > 4) std::this_thread::sleep_for(std::chrono::hours(1));
        return {1};
      },
      [&](std::size_t i, const JobOutcome&) { heard.push_back(i); },
      [](std::size_t done) { return done < 4; });
  EXPECT_EQ(ended, 4U);
  EXPECT_EQ(heard, (std::vector<std::size_t>{1, 2, 3, 4}));
}

TEST(ProcessPool, StartsNothingIfToldSoAtOnce) {
  EXPECT_EQ(run_jobs(
                3, 2, [](std::size_t) { return std::vector<double>{1}; },
                [](std::size_t, const JobOutcome&) { FAIL(); }, [](std::size_t) { return false; }),
            0U);
}

}  // namespace
}  // namespace amsp
