#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "prediction/closed_form.h"
#include "prediction/error_band.h"
#include "prediction/link_usage.h"
#include "prediction/machine.h"
#include "scenario/scenario.h"
#include "traces/timeline/analysis.h"
#include "traces/timeline/playback.h"
#include "training/memory.h"

namespace amsp {

/// Throws ConfigError if the schedule has more tasks than any machine holds; it isn't built.
void check_size(const Scenario& scenario);

/// Everything that a simulation needs of a scenario, built once and kept alive together: cluster
/// graph, placement, sources of times, task graph and its lowering.
class Setup {
 public:
  /// Throws ConfigError where the scenario can't be honoured. `full_steps` as in build_schedule.
  explicit Setup(const Scenario& scenario, int full_steps = 1);
  /// On a machine that other plans share: of the same cluster and placement.
  Setup(const Scenario& scenario, std::shared_ptr<const Machine> machine, int full_steps = 1);

  const Scenario& scenario() const { return scenario_; }
  const ClusterGraph& cluster() const { return machine_->cluster(); }
  const Placement& placement() const { return machine_->placement(); }
  const CollectiveModel& collectives() const { return machine_->collectives(); }
  const ComputeModel& compute() const { return machine_->compute(); }
  const std::string& kernel_source() const { return machine_->kernel_source(); }
  const TaskGraph& graph() const { return *graph_; }
  const Lowering& lowering() const { return *lowering_; }

 private:
  Scenario scenario_;
  std::shared_ptr<const Machine> machine_;
  std::unique_ptr<TaskGraph> graph_;
  std::unique_ptr<Lowering> lowering_;
};

/// The whole training run, if a token budget is given.
struct RunCost {
  double days;
  double gpu_hours;
  std::optional<double> price;  // in ReportSpec::currency
};

/// Step times under jitter, in order of the draws.
struct StepSamples {
  std::vector<Seconds> times;

  Seconds mean() const;
  /// The smallest time that a part `p` of the samples, in (0, 1], does not exceed.
  Seconds quantile(double p) const;
};

/// What one step costs and where the time goes.
struct Prediction {
  Seconds step_time;
  ErrorBand band;                    // of the step time
  double tokens_per_gpu_second = 0;  // TGS
  double mfu = 0;
  Flop flop_per_token;
  MemoryEstimate memory;
  std::vector<std::string> memory_advice;  // empty if it fits
  Rank rank = 0;  // the rank that `breakdown` is of: last at the window's end
  RankBreakdown breakdown;
  Nanoseconds exposed_min, exposed_max;              // over all ranks
  std::map<std::string, Nanoseconds> critical_path;  // by kind
  std::vector<LinkUsage> links;
  ExactCost exact;
  PaperCost paper;
  std::vector<std::string> unmeasured;
  std::string kernel_source;                 // Machine::kernel_source
  std::optional<Seconds> gain_of_compiling;  // prediction/stack_gain.h
  std::size_t tasks = 0, activities = 0;
  int rank_classes = 0, batches_played = 0;  // as in Playback, like activities
  std::optional<RunCost> run;
  std::optional<StepSamples> samples;
};

/// Memory alone, without a simulation.
MemoryEstimate memory_of(const Scenario& scenario);

/// What plays a lowered task graph: simulate() or simulate_every_rank() of sim/simulator.h.
using Play = std::function<Playback(const Lowering&)>;

/// A prediction with all that it was made of, for traces and pages.
struct Predicted {
  Setup setup;
  Playback playback;  // of setup.graph()
  Prediction prediction;
};

/// The whole chain: set up, played, summarised. Throws ConfigError where the scenario can't be
/// honoured, and what `play` throws.
Predicted predict(const Scenario& scenario, const Play& play, int full_steps = 1);

/// The chain's last part alone. `playback` is of setup.graph().
Prediction summarise(const Setup& setup, const Playback& playback);

/// For people; fits 100 columns. `colour` marks verdicts by ANSI colours.
std::string text_report(const Scenario& scenario, const Prediction& prediction, bool colour);
/// For programs: units in keys ("amsp.prediction/1").
OrderedJson json_report(const Scenario& scenario, const Prediction& prediction);

}  // namespace amsp
