#include <gtest/gtest.h>

#include <mutex>

#include "executor/cuda/cuda_device.h"
#include "executor/cuda/fabric/peer_fabric.h"
#include "executor/fabric/local_world.h"
#include "schedule/schedule_builder.h"
#include "tests/executor/parity.h"

namespace amsp {
namespace {

/// Virtual ranks on one GPU.
Execution run_peers(const Scenario& scenario, const ExecutionOptions& options) {
  const int ranks = scenario.plan.dp.size();
  const TaskGraph graph =
      build_schedule(scenario.model, scenario.training, scenario.plan, scenario.engine);
  const std::unique_ptr<TokenSource> tokens = synthetic_tokens(scenario.model.vocab, 1);
  std::vector<std::unique_ptr<Device>> devices;
  std::vector<Device*> pointers;
  for (int i = 0; i < ranks; ++i) {
    devices.push_back(make_cuda_device({}));
    pointers.push_back(devices.back().get());
  }
  const auto fabrics = make_peer_fabrics(pointers, {});
  Execution result;
  std::mutex mutex;
  run_local(ranks, [&](World& world, Fabric&) {
    const auto rank = static_cast<std::size_t>(world.rank());
    Executor executor(scenario, graph, world, *fabrics[rank], *devices[rank], options);
    Execution mine = executor.run(*tokens);
    const std::lock_guard lock(mutex);
    if (rank == 0) result = std::move(mine);
  });
  return result;
}

TEST(CudaParity, EveryPlanOnFourVirtualRanksTrainsAsOneRankDoes) {
  Parity parity(run_peers, 3);
  for (const ParityCase& one : parity_cases({2, 2}, 8, {2})) {
    const Distance distance = parity.distance(one.scenario);
    EXPECT_LE(distance.loss, 1e-10) << one.name;
    EXPECT_LE(distance.parameters, 1e-10) << one.name;
  }
}

}  // namespace
}  // namespace amsp
