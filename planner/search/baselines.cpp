#include "planner/search/baselines.h"

#include "core/error.h"
#include "planner/search/plan_space.h"

namespace amsp {

namespace {

Baseline smallest_group(Mesh dp, const std::function<bool(const ShardingPlan&)>& fits) {
  for (const Mesh k : meshes_on_few_nodes(dp)) {
    const ShardingPlan plan{k, k, k, dp, {}};
    if (k != Mesh{1, 1} && k != dp && fits(plan)) return {"mics", "deepspeed", plan, ""};
  }
  return {"mics", "deepspeed", std::nullopt, "no group smaller than dp fits"};
}

Baseline in_node(Mesh dp) {
  const Mesh node{dp.intra, 1};
  if (dp.inter == 1) return {"hsdp", "fsdp2", std::nullopt, "needs several nodes"};
  return {"hsdp", "fsdp2", ShardingPlan{node, node, node, dp, {}}, ""};
}

Baseline table_iv(const Scenario& scenario, Mesh dp) {
  try {
    const ShardingPlan plan = named_plan("amsp", dp, scenario.model.name, "");
    if (!broken_rule(plan, scenario.cluster)) return {"amsp", "amsp", plan, ""};
    return {"amsp", "amsp", std::nullopt, "the paper's plan needs more nodes"};
  } catch (const ConfigError&) {
    return {"amsp", "amsp", std::nullopt, ""};
  }
}

}  // namespace

std::vector<Baseline> baselines(const Scenario& scenario,
                                const std::function<bool(const ShardingPlan&)>& fits) {
  const Mesh dp = scenario.plan.dp;
  std::vector<Baseline> result;
  result.push_back({"ddp", "ddp", named_plan("ddp", dp, scenario.model.name, ""), ""});
  for (const char* name : {"zero1", "zero2", "zero3"})
    result.push_back({name, "deepspeed", named_plan(name, dp, scenario.model.name, ""), ""});
  result.push_back(smallest_group(dp, fits));
  result.push_back(in_node(dp));
  if (dp.inter > 1 && dp.intra > 1)
    result.push_back(
        {"zeropp", "deepspeed", named_plan("zeropp", dp, scenario.model.name, ""), ""});
  else
    result.push_back({"zeropp", "deepspeed", std::nullopt, "needs several nodes"});
  if (const Baseline paper = table_iv(scenario, dp); paper.plan || !paper.why_not.empty())
    result.push_back(paper);
  return result;
}

}  // namespace amsp
