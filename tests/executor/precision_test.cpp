// Plans round differently: they add gradients in another order. How far that goes in 20 steps, and
// that one plan gives the same bits each time.
#include <gmock/gmock.h>

#include <cstdio>

#include "local_parity.h"

namespace amsp {
namespace {

using ::testing::Le;

struct Precision {
  const char* name;
  int parameter_bytes, gradient_bytes;
  Distance bound;  // after 20 steps
};
// Ten times what was measured on these plans (x86-64, OpenBLAS 0.3.21): losses 2.6e-8, parameters
// 2.6e-7 in fp32; 5.6e-5 and 6.6e-3 in bf16. With gradients in fp32, where no parameter was rounded
// another way, 0 and 5.5e-8; one that is moves a loss as in bf16.
constexpr Precision kPrecisions[] = {
    {"fp32", 4, 4, {3e-7, 3e-6}},
    {"bf16", 2, 2, {6e-4, 7e-2}},
    {"bf16_with_fp32_gradients", 2, 4, {6e-4, 1e-3}},
};

std::vector<Scenario> scenarios(const Precision& precision) {
  struct Plan {
    const char* name;
    Mesh dp;
  };
  std::vector<Scenario> all;
  for (const Plan& plan :
       {Plan{"ddp", {4, 1}}, Plan{"zero1", {2, 2}}, Plan{"zero2", {4, 1}}, Plan{"zero3", {4, 1}},
        Plan{"hsdp-2", {2, 2}}, Plan{"zeropp", {2, 2}}, Plan{"amsp-like", {4, 1}}}) {
    Scenario scenario = tiny_scenario(plan.dp, precision.parameter_bytes, plan.name, 2);
    scenario.training.gradient_bytes = precision.gradient_bytes;
    all.push_back(scenario);
  }
  return all;
}

class InPrecision : public testing::TestWithParam<Precision> {};

TEST_P(InPrecision, PlansStayNearTheUnshardedRun) {
  Parity parity = local_parity(20);
  Distance worst;
  for (const Scenario& scenario : scenarios(GetParam())) {
    const Distance distance = parity.distance(scenario);
    EXPECT_THAT(distance.loss, Le(GetParam().bound.loss)) << scenario.plan_name;
    EXPECT_THAT(distance.parameters, Le(GetParam().bound.parameters)) << scenario.plan_name;
    worst.loss = std::max(worst.loss, distance.loss);
    worst.parameters = std::max(worst.parameters, distance.parameters);
  }
  std::printf("furthest from the unsharded run: losses %.1e, parameters %.1e\n", worst.loss,
              worst.parameters);
}

TEST_P(InPrecision, ARunGivesTheSameBitsAgain) {
  const Parity parity = local_parity(8);
  for (const Scenario& scenario : scenarios(GetParam())) {
    const Execution first = parity.run(scenario), second = parity.run(scenario);
    EXPECT_EQ(first.losses, second.losses) << scenario.plan_name;
    EXPECT_EQ(first.parameters, second.parameters) << scenario.plan_name;
  }
}

// Recompute and the order of launches change no sum.
TEST_P(InPrecision, RecomputeAndOverlapChangeNoBit) {
  const Parity parity = local_parity(8);
  for (Scenario scenario : scenarios(GetParam())) {
    const Execution first = parity.run(scenario);
    scenario.training.recompute = Recompute::kFull;
    scenario.engine.overlap_gather = scenario.engine.overlap_all_reduce =
        scenario.engine.overlap_broadcast = false;
    const Execution second = parity.run(scenario);
    EXPECT_EQ(first.losses, second.losses) << scenario.plan_name;
    EXPECT_EQ(first.parameters, second.parameters) << scenario.plan_name;
  }
}

INSTANTIATE_TEST_SUITE_P(Executor, InPrecision, testing::ValuesIn(kPrecisions),
                         [](const auto& one) { return std::string(one.param.name); });

}  // namespace
}  // namespace amsp
