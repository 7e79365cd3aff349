#pragma once

#include "executor/execution.h"
#include "scenario/scenario.h"
#include "schedule/schedule_builder.h"

namespace amsp {

/// Runs a scenario on threads of this process, each with a host device of its own. `look` sees the
/// executor of every rank after the run.
Execution run_local_ranks(const Scenario& scenario, const ExecutionOptions& options,
                          const std::function<void(Rank, const Executor&)>& look = {});

}  // namespace amsp
