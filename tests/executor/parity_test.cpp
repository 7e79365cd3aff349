#include "parity.h"

#include <gmock/gmock.h>

#include <cstdio>

#include "local_ranks.h"

namespace amsp {
namespace {

using ::testing::Le;

Parity fp64_parity() {
  return Parity([](const Scenario& scenario,
                   const ExecutionOptions& options) { return run_local_ranks(scenario, options); },
                20);
}

void expect_parity(const std::vector<ParityCase>& cases) {
  Parity parity = fp64_parity();
  Distance worst;
  for (const ParityCase& one : cases) {
    const Distance distance = parity.distance(one.scenario);
    EXPECT_THAT(distance.loss, Le(1e-10)) << one.name;
    EXPECT_THAT(distance.parameters, Le(1e-10)) << one.name;
    worst.loss = std::max(worst.loss, distance.loss);
    worst.parameters = std::max(worst.parameters, distance.parameters);
  }
  std::printf("%zu runs; furthest from the unsharded run: losses %.1e, parameters %.1e\n",
              cases.size(), worst.loss, worst.parameters);
}

TEST(Parity, EveryPlanOnOneRank) {
  expect_parity(parity_cases({1, 1}, 8, {1, 2, 4}));
}
TEST(Parity, EveryPlanOnTwoRanks) {
  for (const Mesh dp : {Mesh{2, 1}, Mesh{1, 2}}) expect_parity(parity_cases(dp, 8, {1, 2}));
}

TEST(ParitySlow, EveryPlanOnFourRanks) {
  for (const Mesh dp : {Mesh{4, 1}, Mesh{2, 2}, Mesh{1, 4}})
    expect_parity(parity_cases(dp, 8, {1, 2, 4}));
}
TEST(ParitySlow, EveryPlanOnEightRanks) {
  for (const Mesh dp : {Mesh{8, 1}, Mesh{4, 2}, Mesh{2, 4}})
    expect_parity(parity_cases(dp, 8, {1, 2, 4}));
}

}  // namespace
}  // namespace amsp
