#pragma once

#include <functional>
#include <memory>

#include "executor/run/execution.h"
#include "scenario/scenario.h"
#include "schedule/schedule_builder.h"

namespace amsp {

/// What a test changes about a run. Functions are called by all ranks' threads at once, but for
/// `look`.
struct LocalRun {
  /// Default: synthetic_tokens of the model's vocabulary, seed 1.
  std::shared_ptr<const TokenSource> tokens;
  /// A fabric over that of the threads.
  std::function<std::unique_ptr<Fabric>(World&, Fabric&)> over;
  /// Sees the executor of every rank after the run, one at a time.
  std::function<void(Rank, const Executor&)> look;
};

/// Runs a scenario on threads of this process, each with a host device of its own, and returns
/// what rank 0 got.
Execution run_local_ranks(const Scenario& scenario, const ExecutionOptions& options,
                          const LocalRun& how = {});

}  // namespace amsp
