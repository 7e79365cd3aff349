#include <fmt/format.h>

#include "planner/report/export.h"

namespace amsp {

Exported export_internevo(const Scenario& scenario, const Candidate& candidate) {
  Exported result;
  const ShardingPlan& plan = candidate.plan;
  if (plan.g != plan.p || plan.p2) {
    result.notes.emplace_back(
        plan.p2 ? "InternEvo has no secondary copy of parameters (p2)"
                : fmt::format("InternEvo keeps gradients where parameters are: g must be p, not {}",
                              to_string(plan.g)));
    return result;
  }
  const TrainingSpec& training = candidate.training;
  const EnginePolicy& engine = scenario.engine;
  const int weight = plan.p.size();
  const auto boolean = [](bool value) { return value ? "True" : "False"; };
  result.possible = true;
  result.content = fmt::format(
      "# {} on {} GPUs: {}.\n"
      "# Sections for a configuration of InternEvo; the rest of it is the training's own.\n"
      "data = dict(\n"
      "    seq_len={},\n"
      "    micro_num={},  # micro-batches a step\n"
      "    micro_bsz={},  # sequences\n"
      ")\n"
      "model = dict(checkpoint={})  # recompute every layer\n"
      "hybrid_zero_optimizer = dict(\n"
      "    overlap_sync_grad={},\n"
      "    overlap_sync_param={},\n"
      "    reduce_bucket_size={},  # elements\n"
      ")\n"
      "parallel = dict(\n"
      "    zero1=dict(size={}),  # owners of a shard's optimizer states: os over p\n"
      "    tensor=dict(size=1, mode=\"{}\"),\n"
      "    pipeline=dict(size=1),\n"
      "    weight=dict(size={}, overlap={}),  # shards of parameters and gradients\n"
      ")\n",
      scenario.model.name, plan.dp.size(), to_string(plan), training.sequence_length,
      training.micro_batches, training.micro_batch,
      training.recompute == Recompute::kNone ? "False"
      : training.recompute_share == 1        ? "True"
                                             : fmt::format("{:.4g}", training.recompute_share),
      boolean(engine.overlap_all_reduce), boolean(engine.overlap_broadcast),
      engine.bucket.value / training.gradient_bytes, plan.os.size() / weight,
      weight > 1 ? "isp" : "mtp", weight, boolean(weight > 1 && engine.overlap_gather));
  result.notes.emplace_back(
      "sections data, model, hybrid_zero_optimizer hold only what the plan "
      "decides: merge them into yours");
  if (training.clip_gradients)
    result.notes.emplace_back(
        "the scenario clips gradients but has no norm: set hybrid_zero_optimizer.clip_grad_norm");
  if (training.optimizer.name != "adam")
    result.notes.emplace_back(
        fmt::format("InternEvo's optimizer is Adam, the scenario's {}", training.optimizer.name));
  return result;
}

}  // namespace amsp
