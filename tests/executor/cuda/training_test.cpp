#include <gtest/gtest.h>

#include <cmath>

#include "executor/host/host_device.h"
#include "executor/run/execution.h"
#include "schedule/schedule_builder.h"
#include "tests/executor/cuda/device_under_test.h"
#include "tests/executor/cuda/lone_rank.h"
#include "tests/executor/parity.h"

namespace amsp {
namespace {

Scenario scenario_of(int parameter_bytes) {
  Scenario scenario = tiny_scenario({1, 1}, parameter_bytes);
  scenario.training.micro_batches = 2;
  return scenario;
}

Execution train(Device& device, const Scenario& scenario) {
  const TaskGraph graph =
      build_schedule(scenario.model, scenario.training, scenario.plan, scenario.engine);
  LoneWorld world;
  LoneFabric fabric;
  ExecutionOptions options;
  options.steps = 3;
  options.warm_up = 2;
  options.keep_parameters = true;
  Executor executor(scenario, graph, world, fabric, device, options);
  return executor.run(*synthetic_tokens(scenario.model.vocab, 1));
}

void expect_training_as_on_the_host(int parameter_bytes, double tolerance) {
  const auto device = make_test_device();
  const auto host = make_host_device();
  const Scenario scenario = scenario_of(parameter_bytes);
  const Execution expected = train(*host, scenario);
  const Execution got = train(*device, scenario);
  ASSERT_EQ(got.losses.size(), 3u);
  for (std::size_t i = 0; i < got.losses.size(); ++i)
    EXPECT_NEAR(got.losses[i], expected.losses[i], tolerance * expected.losses[i]) << i;
  EXPECT_NE(got.losses[0], got.losses[2]);
  ASSERT_EQ(got.parameters.size(), expected.parameters.size());
  for (std::size_t id = 0; id < got.parameters.size(); ++id) {
    double difference = 0, size = 0;
    for (std::size_t i = 0; i < got.parameters[id].size(); ++i) {
      const double d = got.parameters[id][i] - expected.parameters[id][i];
      difference += d * d;
      size += expected.parameters[id][i] * expected.parameters[id][i];
    }
    EXPECT_LE(std::sqrt(difference), tolerance * std::sqrt(size)) << "tensor " << id;
  }
}

TEST(CudaTraining, EqualsTheHostDeviceInFp64) {
  expect_training_as_on_the_host(8, 1e-10);
}
TEST(CudaTraining, IsCloseToTheHostDeviceInFp32) {
  expect_training_as_on_the_host(4, 1e-3);
}
TEST(CudaTraining, IsCloseToTheHostDeviceInBf16) {
  expect_training_as_on_the_host(2, 2e-2);
}

}  // namespace
}  // namespace amsp
