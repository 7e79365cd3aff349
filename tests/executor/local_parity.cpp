#include "local_parity.h"

#include <gmock/gmock.h>

#include <cstdio>

namespace amsp {

using ::testing::Le;

Parity local_parity(std::int64_t steps) {
  return Parity([](const Scenario& scenario,
                   const ExecutionOptions& options) { return run_local_ranks(scenario, options); },
                steps);
}

void expect_fp64_parity(const std::vector<ParityCase>& cases) {
  Parity parity = local_parity(20);
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

}  // namespace amsp
