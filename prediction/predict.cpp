#include "prediction/predict.h"

#include <algorithm>

#include "data/embedded.h"
#include "schedule/schedule_builder.h"
#include "topology/collective_models.h"

namespace amsp {

namespace {

std::unique_ptr<ComputeProfile> load_compute_profile(const std::string& name) {
  if (name.empty()) return nullptr;
  const std::string file = "profiles/" + name + ".json";
  return std::make_unique<ComputeProfile>(
      read_compute_profile(parse_json(embedded(file), file), file));
}

/// Nodes that the widest sharding group spans: what should lie under one leaf.
int block_nodes(const ShardingPlan& plan) { return plan.os.inter; }

}  // namespace

Setup::Setup(const Scenario& scenario, int full_steps)
    : scenario_(scenario),
      cluster_(std::make_unique<ClusterGraph>(scenario_.cluster)),
      placement_(std::make_unique<Placement>(scenario_.cluster, scenario_.plan.dp,
                                             block_nodes(scenario_.plan))),
      collectives_(make_collectives(*cluster_, *placement_)),
      profile_(load_compute_profile(scenario_.cluster.profile)),
      compute_(std::make_unique<ComputeModel>(scenario_.cluster.gpu, profile_.get())),
      graph_(std::make_unique<TaskGraph>(build_schedule(scenario_.model, scenario_.training,
                                                        scenario_.plan, scenario_.engine,
                                                        full_steps))),
      lowering_(std::make_unique<Lowering>(*graph_, *cluster_, *placement_, *collectives_,
                                           *compute_)) {}

MemoryEstimate memory_of(const Scenario& scenario) {
  return estimate_memory(scenario.model, scenario.training, scenario.plan, scenario.engine,
                         scenario.cluster);
}

namespace {

std::optional<RunCost> run_cost(const Scenario& scenario, Seconds step_time) {
  if (!scenario.report.token_budget) return std::nullopt;
  const double tokens_per_step = static_cast<double>(scenario.global_batch()) *
                                 scenario.training.sequence_length;
  const double hours =
      *scenario.report.token_budget / tokens_per_step * step_time.value / 3600;
  RunCost cost{hours / 24, hours * scenario.plan.dp.size(), std::nullopt};
  if (scenario.report.price_per_gpu_hour)
    cost.price = cost.gpu_hours * *scenario.report.price_per_gpu_hour;
  return cost;
}

}  // namespace

Prediction summarise(const Setup& setup, const Timeline& timeline) {
  const Scenario& scenario = setup.scenario();
  Prediction result;
  result.step_time = timeline.step_time();
  result.tokens_per_gpu_second =
      scenario.training.tokens() * scenario.training.micro_batches / result.step_time.value;
  result.flop_per_token =
      training_flop_per_token(scenario.model, scenario.training.sequence_length);
  result.mfu = result.tokens_per_gpu_second * result.flop_per_token.value /
               scenario.cluster.gpu.peak_bf16.value;
  result.memory = memory_of(scenario);
  result.memory_advice = memory_advice(scenario.model, scenario.training, scenario.plan,
                                       scenario.engine, scenario.cluster);
  for (Rank rank = 1; rank < timeline.ranks(); ++rank)
    if (timeline.window_end(rank) > timeline.window_end(result.rank)) result.rank = rank;
  result.breakdown = break_down(timeline, result.rank);
  result.exposed_min = result.exposed_max = result.breakdown.exposed;
  const std::vector<Rank> first_alike = timeline.first_alike();
  for (Rank rank = 0; rank < timeline.ranks(); ++rank) {
    if (first_alike[static_cast<std::size_t>(rank)] != rank) continue;
    const Nanoseconds exposed = break_down(timeline, rank).exposed;
    result.exposed_min = std::min(result.exposed_min, exposed);
    result.exposed_max = std::max(result.exposed_max, exposed);
  }
  result.critical_path = path_by_kind(critical_path(timeline));
  result.links = busiest_links(setup.lowering(), setup.cluster(), result.step_time);
  result.exact = exact_cost(setup.lowering());
  result.paper = paper_cost(scenario.model, scenario.training, scenario.plan, scenario.engine,
                            setup.collectives());
  result.unmeasured = setup.lowering().unmeasured();
  result.tasks = static_cast<std::size_t>(setup.graph().size());
  result.run = run_cost(scenario, result.step_time);
  return result;
}

}  // namespace amsp
