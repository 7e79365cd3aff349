#include "parity.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "planner/search/plan_space.h"
#include "training/optimizers.h"

namespace amsp {

Scenario tiny_scenario(Mesh dp, int parameter_bytes) {
  Scenario scenario;
  scenario.name = "tiny";
  scenario.file = "tiny.json";
  scenario.cluster.gpu.memory = 1_GiB;
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

Scenario tiny_scenario(Mesh dp, int parameter_bytes, const std::string& plan, int micro_batches) {
  Scenario scenario = tiny_scenario(dp, parameter_bytes);
  scenario.plan_name = plan;
  scenario.plan = plan == "amsp-like" ? ShardingPlan{{dp.intra / 2, 1}, dp, dp, dp, {}}
                                      : named_plan(plan, dp, "", "test");
  scenario.training.micro_batches = micro_batches;
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

Scenario unsharded(const Scenario& scenario) {
  Scenario one = scenario;
  one.plan = {};
  one.training.micro_batches = scenario.training.micro_batches * scenario.plan.dp.size();
  one.training.recompute = Recompute::kNone;
  one.engine = {};
  return one;
}

const Execution& Parity::one(const Scenario& scenario) {
  const Scenario one = unsharded(scenario);
  const ModelSpec& m = one.model;
  const TrainingSpec& t = one.training;
  const std::string key = fmt::format(
      "{}", fmt::join(std::vector<int>{m.hidden, m.layers, m.heads, m.kv_heads, m.head_dim, m.ffn,
                                       m.vocab, m.tied_embeddings, m.qkv_bias, m.output_bias,
                                       m.mlp_bias, m.fused_qkv, m.fused_gate_up, t.sequence_length,
                                       t.micro_batch, t.micro_batches, t.parameter_bytes,
                                       t.gradient_bytes, t.clip_gradients},
                      " "));
  const auto found = ones_.find(key);
  return found != ones_.end() ? found->second : ones_.emplace(key, run(one)).first->second;
}

Distance distance(const Execution& many, const Execution& one) {
  AMSP_CHECK(
      many.losses.size() == one.losses.size() && many.parameters.size() == one.parameters.size(),
      "{} steps and {} tensors against {} and {}", many.losses.size(), many.parameters.size(),
      one.losses.size(), one.parameters.size());
  Distance result;
  // NaN (a part that nobody owns) must not pass for 0.
  const auto keep_larger = [](double& kept, double value) {
    if (!std::isnan(kept) && !(value <= kept)) kept = value;
  };
  for (std::size_t i = 0; i < one.losses.size(); ++i)
    keep_larger(result.loss, std::abs(many.losses[i] / one.losses[i] - 1));
  for (std::size_t id = 0; id < one.parameters.size(); ++id) {
    AMSP_CHECK(many.parameters[id].size() == one.parameters[id].size(), "tensor {} has {} and {}",
               id, many.parameters[id].size(), one.parameters[id].size());
    double difference = 0, size = 0;
    for (std::size_t i = 0; i < one.parameters[id].size(); ++i) {
      const double a = many.parameters[id][i], b = one.parameters[id][i];
      difference += (a - b) * (a - b);
      size += b * b;
    }
    keep_larger(result.parameters, std::sqrt(difference / size));
  }
  return result;
}

}  // namespace amsp
