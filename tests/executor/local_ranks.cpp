#include "local_ranks.h"

#include <mutex>

#include "executor/fabric/local_world.h"
#include "executor/host/host_device.h"

namespace amsp {

Execution run_local_ranks(const Scenario& scenario, const ExecutionOptions& options,
                          const std::function<void(Rank, const Executor&)>& look) {
  const TaskGraph graph =
      build_schedule(scenario.model, scenario.training, scenario.plan, scenario.engine);
  const std::unique_ptr<TokenSource> tokens = synthetic_tokens(scenario.model.vocab, 1);
  Execution result;
  std::mutex mutex;
  run_local(scenario.plan.dp.size(), [&](World& world, Fabric& fabric) {
    const std::unique_ptr<Device> device = make_host_device();
    Executor executor(scenario, graph, world, fabric, *device, options);
    Execution mine = executor.run(*tokens);
    const std::lock_guard lock(mutex);
    if (look) look(world.rank(), executor);
    if (world.rank() == 0) result = std::move(mine);
  });
  return result;
}

}  // namespace amsp
