#include "prediction/predict.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "core/error.h"
#include "core/statistics.h"
#include "prediction/stack_gain.h"
#include "schedule/schedule_builder.h"

namespace amsp {

void check_size(const Scenario& scenario) {
  constexpr double kMostTasks = 2e7;
  constexpr double kTasksPerLayer = 80;  // 14 modules forward, 21 backward, their collectives
  const double tasks =
      kTasksPerLayer * (scenario.model.layers + 2) * scenario.training.micro_batches;
  if (tasks > kMostTasks)
    throw ConfigError(fmt::format(
        "{}#/training: {} micro-batches of {} layers are about {:.0f} million tasks a rank, of at "
        "most {:.0f} million",
        scenario.file, scenario.training.micro_batches, scenario.model.layers, tasks / 1e6,
        kMostTasks / 1e6));
}

Setup::Setup(const Scenario& scenario, int full_steps)
    : Setup(scenario, std::make_shared<Machine>(scenario), full_steps) {}

Setup::Setup(const Scenario& scenario, std::shared_ptr<const Machine> machine, int full_steps)
    : scenario_(scenario), machine_(std::move(machine)) {
  check_size(scenario_);
  graph_ = std::make_unique<TaskGraph>(build_schedule(
      scenario_.model, scenario_.training, scenario_.plan, scenario_.engine, full_steps));
  at_cluster(scenario_, [&] {
    lowering_ = std::make_unique<Lowering>(*graph_, machine_->cluster(), machine_->collectives(),
                                           machine_->compute(), machine_->slowness());
  });
}

MemoryEstimate memory_of(const Scenario& scenario) {
  return estimate_memory(scenario.model, scenario.training, scenario.plan, scenario.engine,
                         scenario.cluster);
}

Seconds StepSamples::mean() const {
  return (1.0 / static_cast<double>(times.size())) *
         std::accumulate(times.begin(), times.end(), Seconds{0});
}

Seconds StepSamples::quantile(double p) const {
  return amsp::quantile(times, p);
}

namespace {

std::optional<RunCost> run_cost(const Scenario& scenario, Seconds step_time) {
  if (!scenario.report.token_budget) return std::nullopt;
  const double tokens_per_step =
      static_cast<double>(scenario.global_batch()) * scenario.training.sequence_length;
  const double hours = *scenario.report.token_budget / tokens_per_step * step_time.value / 3600;
  RunCost cost{hours / 24, hours * scenario.plan.dp.size(), std::nullopt};
  if (scenario.report.price_per_gpu_hour)
    cost.price = cost.gpu_hours * *scenario.report.price_per_gpu_hour;
  return cost;
}

}  // namespace

Predicted predict(const Scenario& scenario, const Play& play, int full_steps) {
  Setup setup(scenario, full_steps);
  Playback playback = play(setup.lowering());
  Prediction prediction = summarise(setup, playback);
  return {std::move(setup), std::move(playback), std::move(prediction)};
}

Prediction summarise(const Setup& setup, const Playback& playback) {
  const Scenario& scenario = setup.scenario();
  const Timeline& timeline = playback.timeline;
  Prediction result;
  result.step_time = timeline.step_time();
  result.tokens_per_gpu_second =
      scenario.training.tokens() * scenario.training.micro_batches / result.step_time.value;
  result.flop_per_token =
      training_flop_per_token(scenario.model, scenario.training.sequence_length);
  result.mfu =
      result.tokens_per_gpu_second * result.flop_per_token.value / matrix_peak(scenario).rate.value;
  result.memory = memory_of(scenario);
  result.memory_advice = memory_advice(scenario.model, scenario.training, scenario.plan,
                                       scenario.engine, scenario.cluster);
  for (Rank rank = 1; rank < timeline.ranks(); ++rank)
    if (timeline.window_end(rank) > timeline.window_end(result.rank)) result.rank = rank;
  result.breakdown = break_down(timeline, result.rank);
  result.band = error_band(setup.lowering(), result.rank, result.breakdown, result.step_time);
  result.exposed_min = result.exposed_max = result.breakdown.exposed;
  const std::vector<Rank> first_alike = timeline.first_alike();
  const Rank broken_down = first_alike[static_cast<std::size_t>(result.rank)];
  for (Rank rank = 0; rank < timeline.ranks(); ++rank) {
    if (first_alike[static_cast<std::size_t>(rank)] != rank || rank == broken_down) continue;
    const Nanoseconds exposed = break_down(timeline, rank).exposed;
    result.exposed_min = std::min(result.exposed_min, exposed);
    result.exposed_max = std::max(result.exposed_max, exposed);
  }
  result.critical_path = path_by_kind(critical_path(timeline));
  result.links = busiest_links(setup.lowering(), setup.cluster(), result.step_time);
  result.exact = exact_cost(setup.lowering());
  result.paper = paper_cost(scenario.model, scenario.training, scenario.plan, scenario.engine,
                            setup.collectives());
  result.kernel_source = setup.kernel_source();
  result.gain_of_compiling = gain_of_compiling(scenario, setup.compute());
  result.unmeasured = setup.lowering().unmeasured();
  result.tasks = static_cast<std::size_t>(setup.graph().size());
  result.activities = playback.activities;
  result.rank_classes = playback.rank_classes;
  result.batches_played = playback.batches_played;
  if (!playback.jittered_steps.empty()) result.samples = StepSamples{playback.jittered_steps};
  result.run = run_cost(scenario, result.step_time);
  return result;
}

}  // namespace amsp
