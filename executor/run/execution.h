#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/units.h"
#include "executor/interface/communicator.h"
#include "executor/interface/device.h"
#include "executor/interface/world.h"
#include "executor/program/program_context.h"
#include "executor/program/token_source.h"
#include "executor/run/kernel_log.h"
#include "executor/run/runtime.h"
#include "scenario/scenario.h"
#include "traces/timeline/timeline.h"
#include "traces/write/traced_kernel.h"

namespace amsp {

struct ExecutionOptions {
  std::int64_t steps = 20;
  std::int64_t warm_up = 3;  // the first steps: trained, not timed
  Hyperparameters hyper;
  bool keep_parameters = false;  // gather the trained masters on every rank: for small models
  bool kernels = false;          // record what every task launches
};

/// The clock of a rank against that of rank 0.
struct ClockOffset {
  Nanoseconds offset;
  Nanoseconds uncertainty;
};

/// All runs of kernels of one name.
struct KernelTotal {
  std::string name;
  std::int64_t runs = 0;
  Seconds total;  // of their durations, which may overlap
};
/// What the tasks of the traced step launched.
struct KernelTotals {
  std::vector<KernelTotal> by_name;  // of this rank; the longest total first
  /// Over all ranks, of the whole run: as in KernelRuns.
  std::int64_t lost = 0, without_task = 0;
};

/// What a run of a scenario on real ranks gave. The same on all ranks but for kernels' names.
struct Execution {
  std::vector<double> losses;                   // by step: the mean over micro-batches and ranks
  std::vector<Seconds> step_times;              // of the timed steps
  std::int64_t traced_step = 0;                 // the one of median time
  std::map<MemoryUse, Bytes> memory;            // the largest peak of any rank, by use
  Bytes arena;                                  // of the rank with the largest
  std::vector<ClockOffset> clocks;              // by rank
  std::vector<std::vector<double>> parameters;  // by tensor, if kept
  std::optional<KernelTotals> kernels;          // if recorded

  Seconds quantile(double p) const;  // of step_times, nearest rank
};

/// Runs a plan: one rank's part of it, on its device. The graph is that of build_schedule for the
/// scenario's model, training, plan and engine.
class Executor {
 public:
  /// Throws InfeasibleError if the plan isn't one for this many ranks, ConfigError for what the
  /// executor can't do (an optimizer other than "adam"), naming it, and what
  /// Device::start_recording_kernels() throws, if kernels are wanted.
  /// All of them must outlive the executor.
  Executor(const Scenario& scenario, const TaskGraph& graph, World& world, Fabric& fabric,
           Device& device, const ExecutionOptions& options);

  /// Throws ConfigError for a token outside the vocabulary.
  /// `progress` is called on every rank after each step with its number and this rank's mean loss.
  Execution run(const TokenSource& tokens,
                const std::function<void(std::int64_t, double)>& progress = {});
  /// The traced step of the last run, on every rank.
  const Timeline& timeline() const { return *timeline_; }
  /// What this rank's tasks launched in it, the tail of the step before included; empty unless
  /// recorded.
  const RankKernels& kernels() const { return kernels_; }

 private:
  void choose_step(Execution& result);
  void build_timeline(Execution& result);
  void build_kernels(Execution& result, const KernelLog& log);
  void gather_parameters(Execution& result);
  void measure_clocks(Execution& result);

  const Scenario& scenario_;
  const TaskGraph& graph_;
  World& world_;
  Device& device_;
  ExecutionOptions options_;
  std::vector<std::unique_ptr<Communicator>> communicators_;
  std::unique_ptr<RankProgram> program_;
  std::vector<StepResult> steps_;
  std::unique_ptr<Timeline> timeline_;
  Nanoseconds origin_;  // of the timeline, on rank 0's clock
  RankKernels kernels_;
};

/// Throws what Executor's constructor throws for this scenario on `ranks` ranks.
void check_executable(const Scenario& scenario, int ranks);
/// Throws what Executor::run throws for these tokens: ConfigError if the model's vocabulary is too
/// small for them.
void check_vocabulary(const Scenario& scenario, const TokenSource& tokens);

}  // namespace amsp
