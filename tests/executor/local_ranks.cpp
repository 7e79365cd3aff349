#include "local_ranks.h"

#include <mutex>

#include "executor/fabric/local_world.h"
#include "executor/host/host_device.h"

namespace amsp {

Execution run_local_ranks(const Scenario& scenario, const ExecutionOptions& options,
                          const LocalRun& how) {
  const TaskGraph graph =
      build_schedule(scenario.model, scenario.training, scenario.plan, scenario.engine);
  const std::shared_ptr<const TokenSource> tokens =
      how.tokens ? how.tokens : synthetic_tokens(scenario.model.vocab, 1);
  Execution result;
  std::mutex mutex;
  run_local(scenario.plan.dp.size(), [&](World& world, Fabric& threads) {
    const std::unique_ptr<Device> device = make_host_device();
    const std::unique_ptr<Fabric> over = how.over ? how.over(world, threads) : nullptr;
    Executor executor(scenario, graph, world, over ? *over : threads, *device, options);
    Execution mine = executor.run(*tokens);
    const std::lock_guard lock(mutex);
    if (how.look) how.look(world.rank(), executor);
    if (world.rank() == 0) result = std::move(mine);
  });
  return result;
}

}  // namespace amsp
