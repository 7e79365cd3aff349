#include <fmt/core.h>

#include "core/error.h"
#include "core/json/json.h"
#include "scenario/readers.h"

namespace amsp {
namespace {

constexpr const char* kNeeded = "must be the name of a plan or an object with meshes, found ";

Mesh read_mesh(ObjectReader& plan, const std::string& key) {
  const Json& value = plan.value(key);
  if (value.is_string())
    if (const auto mesh = parse_mesh(value.get_ref<const std::string&>())) return *mesh;
  plan.fail(key,
            "must be a mesh of GPUs per node x nodes such as \"8x4\", found " + describe(value));
}

Mesh read_mesh_or(ObjectReader& plan, const std::string& key, Mesh fallback) {
  return plan.has(key) ? read_mesh(plan, key) : fallback;
}

PlanPart read_meshes(ObjectReader& plan, Mesh dp) {
  ShardingPlan meshes;
  meshes.p = read_mesh(plan, "p");
  meshes.g = read_mesh(plan, "g");
  meshes.os = read_mesh(plan, "os");
  meshes.dp = dp;
  if (plan.has("p2")) meshes.p2 = read_mesh(plan, "p2");
  return {meshes, "explicit"};
}

PlanPart read_any(ObjectReader& scenario, Mesh whole_cluster, const std::string& model_name) {
  const Json& value = scenario.value("plan");
  if (value.is_string()) {
    const std::string name = scenario.string("plan");
    return {named_plan(name, whole_cluster, model_name, scenario.where("plan")), name};
  }
  if (!value.is_object()) scenario.fail("plan", kNeeded + describe(value));
  ObjectReader plan = scenario.object("plan");
  const Mesh dp = read_mesh_or(plan, "dp", whole_cluster);
  PlanPart part;
  if (plan.has("name")) {
    for (const char* mesh : {"p", "g", "os", "p2"})
      if (plan.has(mesh))
        plan.fail(fmt::format("gives both 'name' and the mesh '{}'; only one can hold", mesh));
    const std::string name = plan.string("name");
    part = {named_plan(name, dp, model_name, plan.where("name")), name};
  } else {
    part = read_meshes(plan, dp);
  }
  plan.finish();
  return part;
}

}  // namespace

PlanPart read_plan(ObjectReader& scenario, const ClusterSpec& cluster,
                   const std::string& model_name) {
  PlanPart part = read_any(scenario, {cluster.node.gpus, cluster.nodes}, model_name);
  if (const auto rule = broken_rule(part.plan, cluster))
    throw InfeasibleError(fmt::format("{}: plan breaks rule {}", scenario.where("plan"), *rule));
  return part;
}

}  // namespace amsp
