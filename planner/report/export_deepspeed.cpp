#include <fmt/format.h>

#include "core/json/json.h"
#include "planner/report/export.h"

namespace amsp {

namespace {

constexpr Mesh kOne{1, 1};

/// zero_optimization, or nothing if no stage shards so.
std::optional<OrderedJson> zero_section(const ShardingPlan& plan) {
  const bool parameters = plan.p != kOne;
  if (!parameters && plan.os == kOne) return OrderedJson{{"stage", 0}};
  if (!parameters && plan.os == plan.dp) return OrderedJson{{"stage", plan.g == kOne ? 1 : 2}};
  if (!parameters || plan.p != plan.g || plan.p != plan.os) return std::nullopt;
  OrderedJson zero = {{"stage", 3}};
  if (plan.p == plan.dp) {
    if (plan.p2) zero["zero_hpz_partition_size"] = plan.p2->size();
    return zero;
  }
  if (plan.p2) return std::nullopt;
  zero["mics_shard_size"] = plan.p.size();
  return zero;
}

}  // namespace

Exported export_deepspeed(const Scenario& scenario, const Candidate& candidate) {
  Exported result;
  const ShardingPlan& plan = candidate.plan;
  auto zero = zero_section(plan);
  if (!zero) {
    result.notes.emplace_back(fmt::format(
        "DeepSpeed shards optimizer states over all ranks (stages 1, 2), or parameters, gradients "
        "and optimizer states alike over all or over equal groups (stage 3, MiCS): {} is neither",
        to_string(plan)));
    return result;
  }
  const TrainingSpec& training = candidate.training;
  (*zero)["overlap_comm"] = scenario.engine.overlap_all_reduce;
  if ((*zero)["stage"] != 3 && training.gradient_bytes > 0)
    (*zero)["reduce_bucket_size"] = scenario.engine.bucket.value / training.gradient_bytes;
  OrderedJson json = {{"train_batch_size", std::int64_t{training.micro_batch} *
                                               training.micro_batches * plan.dp.size()},
                      {"train_micro_batch_size_per_gpu", training.micro_batch},
                      {"gradient_accumulation_steps", training.micro_batches},
                      {"bf16", {{"enabled", true}}},
                      {"zero_optimization", *zero}};
  if (training.gradient_bytes == 4) json["data_types"] = {{"grad_accum_dtype", "fp32"}};
  result.possible = true;
  result.content = json.dump(2) + "\n";
  if (zero->contains("mics_shard_size"))
    result.notes.emplace_back(
        "MiCS needs a DeepSpeed that has it, and the model built under deepspeed.zero.MiCS_Init");
  if ((*zero)["stage"] == 3)
    result.notes.emplace_back("prefetching follows stage3_prefetch_bucket_size, not layers");
  result.notes.emplace_back(
      "DeepSpeed updates parameters by an all-gather after the step; broadcasts that overlap with "
      "the next forward can't be asked for");
  if (training.recompute == Recompute::kFull)
    result.notes.emplace_back(recompute_text(training) + " is the model's business");
  if (training.clip_gradients)
    result.notes.emplace_back(
        "the scenario clips gradients but has no norm: set gradient_clipping");
  result.notes.emplace_back("optimizer (" + training.optimizer.name +
                            ") and learning rate are the training script's");
  return result;
}

}  // namespace amsp
