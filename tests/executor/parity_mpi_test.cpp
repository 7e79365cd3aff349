// Ranks as processes over sockets. Every process of the MPI job runs these tests, in step, and
// makes the runs to compare with on threads of its own.
#include <gmock/gmock.h>

#include "executor/fabric/mpi_world.h"
#include "executor/fabric/socket_fabric.h"
#include "executor/host/host_device.h"
#include "local_parity.h"

namespace amsp {
namespace {

using ::testing::Le;

MpiWorld* world = nullptr;
SocketFabric* fabric = nullptr;

Execution run_processes(const Scenario& scenario, const ExecutionOptions& options) {
  const TaskGraph graph =
      build_schedule(scenario.model, scenario.training, scenario.plan, scenario.engine);
  const std::unique_ptr<Device> device = make_host_device();
  Executor executor(scenario, graph, *world, *fabric, *device, options);
  return executor.run(*synthetic_tokens(scenario.model.vocab, 1));
}

struct Case {
  const char* plan;
  Mesh dp;
  int micro_batches;
  Recompute recompute;
};

Scenario scenario_of(const Case& one, int parameter_bytes) {
  Scenario scenario = tiny_scenario(one.dp, parameter_bytes, one.plan, one.micro_batches);
  scenario.training.recompute = one.recompute;
  return scenario;
}

/// Rank 0 makes the other runs, the others wait.
void compare(const Scenario& scenario, std::int64_t steps, bool with_unsharded) {
  const ExecutionOptions options = local_parity(steps).options();
  const Execution processes = run_processes(scenario, options);
  if (world->rank() == 0) {
    const Execution threads = run_local_ranks(scenario, options);
    EXPECT_EQ(processes.losses, threads.losses) << scenario.plan_name;
    EXPECT_EQ(processes.parameters, threads.parameters) << scenario.plan_name;
    if (with_unsharded) {
      const Distance away = distance(processes, run_local_ranks(unsharded(scenario), options));
      EXPECT_THAT(away.loss, Le(1e-10)) << scenario.plan_name;
      EXPECT_THAT(away.parameters, Le(1e-10)) << scenario.plan_name;
    }
  }
  world->exchange("");
}

TEST(ParityOfProcesses, PlansGiveTheUnshardedRunAndTheBitsOfThreads) {
  for (const Case& one :
       {Case{"ddp", {4, 1}, 2, Recompute::kNone}, Case{"zero1", {2, 2}, 1, Recompute::kNone},
        Case{"zero2", {4, 1}, 2, Recompute::kNone}, Case{"zero3", {4, 1}, 2, Recompute::kFull},
        Case{"zeropp", {2, 2}, 2, Recompute::kNone},
        Case{"amsp-like", {4, 1}, 2, Recompute::kNone}})
    compare(scenario_of(one, 8), 10, true);
}

TEST(ParityOfProcesses, TheBitsInFp32AndBf16AreThoseOfThreads) {
  for (const int parameter_bytes : {4, 2})
    for (const Case& one : {Case{"hsdp-2", {2, 2}, 2, Recompute::kNone},
                            Case{"amsp-like", {4, 1}, 2, Recompute::kFull}})
      compare(scenario_of(one, parameter_bytes), 5, false);
}

}  // namespace
}  // namespace amsp

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  amsp::MpiWorld world(std::chrono::seconds(60));
  amsp::SocketFabric fabric(world, {"", std::chrono::seconds(60)});
  amsp::world = &world;
  amsp::fabric = &fabric;
  return RUN_ALL_TESTS();
}
