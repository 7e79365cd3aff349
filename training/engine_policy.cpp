#include "training/engine_policy.h"

#include "core/error.h"

namespace amsp {
namespace {

/// DeepSpeed, https://www.deepspeed.ai/docs/config-json (ZeRO options), and what traces of it show.
EnginePolicy deepspeed() {
  EnginePolicy policy;
  policy.name = "deepspeed";
  // Stage 3 prefetches (stage3_prefetch_bucket_size), module by module.
  policy.overlap_gather = true;
  policy.gather_unit = GatherUnit::kModule;
  // AMSP, arXiv 2311.00257, figure 14: the backward waits for each reduce-scatter even with
  // overlap_comm, and all-reduces don't run beside reduce-scatters.
  policy.decoupled_reduce_scatter = false;
  policy.max_pending_reduce = 1;
  policy.overlap_all_reduce = false;
  // reduce_bucket_size: 5e8 elements, here of bf16.
  policy.bucket = Bytes{1'000'000'000};
  // Stages 1 and 2 all-reduce buckets; stage 2 in every micro-batch (the schedule does so for g >
  // p), stage 1 and MiCS at the gradient accumulation boundary.
  policy.grad_reduction = GradReduction::kAllReduce;
  policy.replica_sync = ReplicaSync::kLast;
  // "Gathers updated parameters from all the GPUs at the end of each step" (allgather_partitions),
  // from flat partitions of equal size.
  policy.param_update = ParamUpdate::kAllGather;
  policy.overlap_broadcast = false;
  policy.os_sharding = OsSharding::kFlat;
  // One process group for gather and reduction of a mesh.
  policy.communicators = Communicators::kShared;
  return policy;
}

/// FSDP2, https://pytorch.org/docs/stable/distributed.fsdp.fully_shard.html, applied to every layer
/// as its documentation advises.
EnginePolicy fsdp2() {
  EnginePolicy policy;
  policy.name = "fsdp2";
  // "fully_shard(module) creates one parameter group": one all-gather before the forward of a
  // layer, one reduce-scatter after its backward.
  policy.gather_unit = GatherUnit::kBlock;
  policy.reduce_unit = GatherUnit::kBlock;
  // Implicit prefetching: the next layer's all-gather is issued while this one computes.
  policy.prefetch_layers = 1;
  // A layer's reduce-scatter overlaps the next layer's backward, at whose end it is waited for.
  policy.decoupled_reduce_scatter = true;
  policy.max_pending_reduce = 2;
  policy.overlap_all_reduce = true;
  policy.grad_reduction = GradReduction::kReduceScatter;
  // Parameters "are sharded on dim 0" evenly, and updated where they are sharded.
  policy.os_sharding = OsSharding::kFlat;
  policy.param_update = ParamUpdate::kAllGather;
  // Where a rank keeps whole parameters (reshard_after_forward=False), the next forward gathers
  // them, layer by layer, each ahead of its use.
  policy.overlap_broadcast = true;
  // HSDP all-reduces in every backward unless set_requires_all_reduce(False).
  policy.replica_sync = ReplicaSync::kEvery;
  // All-gathers and reduce-scatters use the device mesh's one process group.
  policy.communicators = Communicators::kShared;
  // torch/distributed/fsdp/_fully_shard/_fsdp_collectives.py: foreach_all_gather_copy_out splits
  // the gathered buffer into parameters; chunk_cat packs gradients, and the shard is a view.
  policy.gather_copies = 1;
  policy.reduce_copies = 1;
  return policy;
}

/// DistributedDataParallel,
/// https://pytorch.org/docs/stable/generated/torch.nn.parallel.DistributedDataParallel.html; with
/// sharded optimizer states, ZeroRedundancyOptimizer,
/// https://pytorch.org/docs/stable/distributed.optim.html.
EnginePolicy ddp() {
  EnginePolicy policy;
  policy.name = "ddp";
  policy.bucket = 25_MiB;  // bucket_cap_mb (its smaller first bucket is not modelled)
  policy.overlap_all_reduce = true;
  policy.grad_reduction = GradReduction::kAllReduce;
  // Every backward reduces, unless in no_sync().
  policy.replica_sync = ReplicaSync::kEvery;
  // "Uses a sorted-greedy algorithm to pack a number of parameters at each rank", and broadcasts
  // after the step.
  policy.os_sharding = OsSharding::kTensor;
  policy.param_update = ParamUpdate::kBroadcast;
  policy.overlap_broadcast = false;
  policy.communicators = Communicators::kShared;
  return policy;
}

}  // namespace

const std::vector<std::string>& engine_names() {
  static const std::vector<std::string> names = {"amsp", "deepspeed", "fsdp2", "ddp"};
  return names;
}

EnginePolicy engine_policy(const std::string& name) {
  if (name == "amsp") return {};
  if (name == "deepspeed") return deepspeed();
  if (name == "fsdp2") return fsdp2();
  AMSP_CHECK(name == "ddp", "there is no engine '{}'", name);
  return ddp();
}

std::optional<std::string> engine_obstacle(const EnginePolicy& engine, const ShardingPlan& plan) {
  if (engine.name != "ddp" || (plan.p.size() == 1 && plan.g.size() == 1)) return std::nullopt;
  return "engine ddp keeps all parameters and gradients on every GPU; the plan shards " +
         (plan.p.size() > 1 ? "parameters over " + to_string(plan.p)
                            : "gradients over " + to_string(plan.g)) +
         " (engines that shard them: amsp, deepspeed, fsdp2)";
}

}  // namespace amsp
