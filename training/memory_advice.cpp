#include <fmt/format.h>

#include <algorithm>

#include "core/quantity.h"
#include "training/memory.h"

namespace amsp {

namespace {

struct Option {
  std::string what;
  TrainingSpec training;
  ShardingPlan plan;
};

/// The next larger meshes that the rules allow for one of the states.
std::vector<Mesh> wider(Mesh mesh, const ShardingPlan& plan) {
  std::vector<Mesh> result;
  for (int intra = mesh.intra + 1; intra <= plan.dp.intra && mesh.inter == 1; ++intra)
    result.push_back({intra, 1});
  for (int inter = mesh.inter + 1; inter <= plan.dp.inter; ++inter)
    result.push_back({plan.dp.intra, inter});
  return result;
}

void add_plans(std::vector<Option>& options, const TrainingSpec& training, const ShardingPlan& plan,
               const ClusterSpec& cluster, const char* name, bool all) {
  for (const Mesh mesh : wider(all ? plan.p : plan.os, plan)) {
    ShardingPlan changed = plan;
    if (all) {
      changed.p = mesh;
      if (plan.g == plan.p || !divides(mesh, plan.g)) changed.g = mesh;
      if (!divides(mesh, plan.os)) changed.os = mesh;
    } else {
      changed.os = mesh;
      if (plan.g == plan.os && plan.g != plan.p) changed.g = mesh;
    }
    if (!broken_rule(changed, cluster))
      options.push_back({fmt::format("{} ({})", name, to_string(changed)), training, changed});
  }
}

}  // namespace

std::vector<std::string> memory_advice(const ModelSpec& model, const TrainingSpec& training,
                                       const ShardingPlan& plan, const EnginePolicy& engine,
                                       const ClusterSpec& cluster) {
  const MemoryEstimate now = estimate_memory(model, training, plan, engine, cluster);
  if (now.fits()) return {};
  std::vector<Option> options;
  if (training.recompute == Recompute::kNone || training.recompute_share < 1) {
    options.push_back({"recompute: full", training, plan});
    options.back().training.recompute_share = 1;
    options.back().training.recompute = Recompute::kFull;
  }
  if (training.micro_batch > 1) {
    options.push_back({"micro_batch: 1", training, plan});
    options.back().training.micro_batch = 1;
  }
  add_plans(options, training, plan, cluster, "shard the optimizer states wider", false);
  add_plans(options, training, plan, cluster, "shard the parameters wider", true);

  struct Found {
    bool fits;
    std::int64_t saved;
    std::string text;
  };
  std::vector<Found> found;
  for (const Option& option : options) {
    const MemoryEstimate then =
        estimate_memory(model, option.training, option.plan, engine, cluster);
    const Bytes saved = now.reserved - then.reserved;
    if (saved.value <= 0) continue;
    found.push_back({then.fits(), saved.value,
                     fmt::format("{} saves {}{}", option.what, format_bytes_binary(saved),
                                 then.fits() ? " and fits" : ", not enough alone")});
  }
  // What fits with the least change first, then what saves most.
  std::stable_sort(found.begin(), found.end(), [](const Found& a, const Found& b) {
    if (a.fits != b.fits) return a.fits;
    return a.fits ? a.saved < b.saved : a.saved > b.saved;
  });
  std::vector<std::string> advice;
  for (std::size_t i = 0; i < std::min<std::size_t>(found.size(), 4); ++i)
    advice.push_back(found[i].text);
  return advice;
}

}  // namespace amsp
