#include <fmt/format.h>

#include "planner/report/export.h"

namespace amsp {

Exported export_fsdp2(const Scenario& scenario, const Candidate& candidate) {
  Exported result;
  const ShardingPlan& plan = candidate.plan;
  if (plan.p != plan.g || plan.p != plan.os || plan.p.size() == 1) {
    result.notes.emplace_back(fmt::format(
        "FSDP2 shards parameters, gradients and optimizer states alike, over all ranks or over "
        "equal groups: {} isn't so",
        to_string(plan)));
    return result;
  }
  const int shard = plan.p.size();
  const int replicas = plan.dp.size() / shard;
  const TrainingSpec& training = candidate.training;
  std::string& text = result.content;
  text = fmt::format(
      "\"\"\"Sharding of {} over {} GPUs for PyTorch's FSDP2: {}.\n\nStart one process a GPU, "
      "ranks "
      "of a node consecutive.\"\"\"\n",
      scenario.model.name, plan.dp.size(), to_string(plan));
  text +=
      "import torch\nfrom torch.distributed.device_mesh import init_device_mesh\n"
      "from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard\n\n";
  text += fmt::format("MICRO_BATCH = {}  # sequences\nMICRO_BATCHES = {}  # a step\n",
                      training.micro_batch, training.micro_batches);
  text += fmt::format(
      "RECOMPUTE = {}  # checkpoint {}\n\n\n",
      training.recompute == Recompute::kFull ? "True" : "False",
      training.recompute_share == 1
          ? "every layer"
          : fmt::format("{:.3g} % of the layers, evenly spread", 100 * training.recompute_share));
  text +=
      "def shard(model, layers):\n"
      "    \"\"\"Shards `model` in place; `layers` are its transformer layers, in order.\"\"\"\n";
  if (replicas > 1)
    text += fmt::format(
        "    mesh = init_device_mesh(\"cuda\", ({}, {}), mesh_dim_names=(\"replicate\", "
        "\"shard\"))\n",
        replicas, shard);
  else
    text += fmt::format(
        "    mesh = init_device_mesh(\"cuda\", ({},), mesh_dim_names=(\"shard\",))\n", shard);
  text += fmt::format(
      "    policy = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.{})\n",
      training.gradient_bytes == 4 ? "float32" : "bfloat16");
  text += fmt::format(
      "    for layer in layers:\n"
      "        fully_shard(layer, mesh=mesh, mp_policy=policy, reshard_after_forward={})\n"
      "    return fully_shard(model, mesh=mesh, mp_policy=policy)\n",
      plan.p2 ? std::to_string(plan.p2->size()) : "True");
  if (training.micro_batches > 1 && replicas > 1 &&
      scenario.engine.replica_sync == ReplicaSync::kLast)
    text +=
        "\n\ndef before_micro_batch(model, index):\n"
        "    \"\"\"Replicas are reduced with the last micro-batch only.\"\"\"\n"
        "    model.set_requires_all_reduce(index == MICRO_BATCHES - 1)\n";
  result.possible = true;
  result.notes.emplace_back(
      "FSDP2 gathers a layer at a time (gather_unit block) and cuts tensors by rows: set both for "
      "a "
      "prediction of it");
  if (plan.p2)
    result.notes.emplace_back("the head and embedding (the root) are kept gathered, not in p2");
  if (training.clip_gradients)
    result.notes.emplace_back(
        "the scenario clips gradients but has no norm: clip in the training loop");
  result.notes.emplace_back("optimizer (" + training.optimizer.name +
                            ") and learning rate are the training script's");
  return result;
}

}  // namespace amsp
