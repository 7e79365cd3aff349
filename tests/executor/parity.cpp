#include "parity.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "planner/plan_space.h"
#include "schedule/optimizers.h"

namespace amsp {

Scenario tiny_scenario(Mesh dp, int parameter_bytes) {
  Scenario scenario;
  scenario.name = "tiny";
  scenario.file = "tiny.json";
  ModelSpec& model = scenario.model;
  model.name = "tiny";
  model.hidden = 12;
  model.layers = 2;
  model.heads = 2;
  model.kv_heads = 1;
  model.head_dim = 6;
  model.ffn = 20;
  model.vocab = 33;
  scenario.training.sequence_length = 7;
  scenario.training.parameter_bytes = parameter_bytes;
  scenario.training.gradient_bytes = parameter_bytes;
  scenario.training.optimizer = optimizer("adam");
  scenario.plan = {{1, 1}, {1, 1}, {1, 1}, dp, {}};
  scenario.engine.bucket = Bytes{100L * parameter_bytes};
  return scenario;
}

std::vector<ParityCase> parity_cases(Mesh dp, int parameter_bytes,
                                     const std::vector<int>& micro_batches) {
  struct Mode {
    const char* name;
    bool gather, all_reduce, broadcast;
  };
  const Mode modes[] = {{"full", true, true, true},
                        {"noBC", true, true, false},
                        {"noBC_noAR", true, false, false},
                        {"none", false, false, false}};
  std::vector<ParityCase> cases;
  std::vector<ShardingPlan> plans;
  for (const ShardingPlan& plan : enumerate_plans(dp).plans) {
    plans.push_back(plan);
    const std::vector<ShardingPlan> secondary = with_secondary(plan);
    plans.insert(plans.end(), secondary.begin(), secondary.end());
  }
  for (const ShardingPlan& plan : plans)
    for (const Recompute recompute : {Recompute::kNone, Recompute::kFull})
      for (const int count : micro_batches)
        for (const Mode& mode : modes) {
          Scenario scenario = tiny_scenario(dp, parameter_bytes);
          scenario.plan = plan;
          scenario.training.recompute = recompute;
          scenario.training.micro_batches = count;
          scenario.engine.overlap_gather = mode.gather;
          scenario.engine.overlap_all_reduce = mode.all_reduce;
          scenario.engine.overlap_broadcast = mode.broadcast;
          cases.push_back({scenario, fmt::format("{}{}{}, M={}, {}", to_string(plan),
                                                 plan.p2 ? ", p2 " + to_string(*plan.p2) : "",
                                                 recompute == Recompute::kFull ? ", recompute" : "",
                                                 count, mode.name)});
        }
  return cases;
}

ExecutionOptions Parity::options() const {
  ExecutionOptions options;
  options.steps = steps_;
  options.warm_up = steps_ - 1;
  options.keep_parameters = true;
  return options;
}

/// One rank that runs all micro-batches of all ranks, one after the other.
const Execution& Parity::unsharded(const Scenario& scenario) {
  const int batches = scenario.training.micro_batches * scenario.plan.dp.size();
  const auto key = std::pair(scenario.training.parameter_bytes, batches);
  const auto found = unsharded_.find(key);
  if (found != unsharded_.end()) return found->second;
  Scenario one = scenario;
  one.plan = {};
  one.training.micro_batches = batches;
  one.training.recompute = Recompute::kNone;
  one.engine = {};
  return unsharded_.emplace(key, run_(one, options())).first->second;
}

Distance Parity::distance(const Scenario& scenario) {
  const Execution& one = unsharded(scenario);
  const Execution many = run_(scenario, options());
  Distance result;
  for (std::size_t i = 0; i < one.losses.size(); ++i)
    result.loss = std::max(result.loss, std::abs(many.losses[i] / one.losses[i] - 1));
  for (std::size_t id = 0; id < one.parameters.size(); ++id) {
    double difference = 0, size = 0;
    for (std::size_t i = 0; i < one.parameters[id].size(); ++i) {
      const double a = many.parameters[id][i], b = one.parameters[id][i];
      difference += (a - b) * (a - b);
      size += b * b;
    }
    // NaN (a part that nobody owns) must not pass for 0.
    const double distance = std::sqrt(difference / size);
    if (!(distance <= result.parameters)) result.parameters = distance;
  }
  return result;
}

}  // namespace amsp
