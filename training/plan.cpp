#include "training/plan.h"

#include <fmt/format.h>

#include <charconv>

#include "core/error.h"
#include "core/nearest.h"

namespace amsp {

std::string to_string(const ShardingPlan& plan) {
  std::string text = fmt::format("p {}, g {}, os {}, dp {}", to_string(plan.p), to_string(plan.g),
                                 to_string(plan.os), to_string(plan.dp));
  if (plan.p2) text += ", p2 " + to_string(*plan.p2);
  return text;
}

namespace {

struct NamedMesh {
  const char* name;
  Mesh mesh;
};

/// Rule 1 for one pair: `inner` divides `outer` on both axes.
std::optional<std::string> nesting(const NamedMesh& inner, const NamedMesh& outer) {
  if (divides(inner.mesh, outer.mesh)) return std::nullopt;
  const bool intra = outer.mesh.intra % inner.mesh.intra != 0;
  return fmt::format("nesting: {} {} must divide {} {} on both axes; {} {} don't divide {}",
                     inner.name, to_string(inner.mesh), outer.name, to_string(outer.mesh),
                     intra ? inner.mesh.intra : inner.mesh.inter, intra ? "GPUs per node" : "nodes",
                     intra ? outer.mesh.intra : outer.mesh.inter);
}

}  // namespace

std::optional<std::string> broken_rule(const ShardingPlan& plan, const ClusterSpec& cluster) {
  if (plan.dp.intra > cluster.node.gpus || plan.dp.inter > cluster.nodes)
    return fmt::format("size: dp {} doesn't fit into the cluster of {} nodes with {} GPUs each",
                       to_string(plan.dp), cluster.nodes, cluster.node.gpus);
  const NamedMesh p{"p", plan.p};
  const NamedMesh g{"g", plan.g};
  const NamedMesh os{"os", plan.os};
  const NamedMesh dp{"dp", plan.dp};
  for (const auto& [inner, outer] : {std::pair{p, g}, std::pair{g, os}, std::pair{os, dp}})
    if (auto broken = nesting(inner, outer)) return broken;
  for (const NamedMesh& mesh : {p, g, os})
    if (mesh.mesh.inter > 1 && mesh.mesh.intra != plan.dp.intra)
      return fmt::format(
          "fewest nodes: {} {} spreads over {} nodes but uses {} of the {} GPUs of dp in each",
          mesh.name, to_string(mesh.mesh), mesh.mesh.inter, mesh.mesh.intra, plan.dp.intra);
  if (plan.g != plan.p && plan.g != plan.os)
    return fmt::format("gradients: g {} must be p {} or os {}", to_string(plan.g),
                       to_string(plan.p), to_string(plan.os));
  if (plan.p2) {
    if (auto broken = nesting({"p2", *plan.p2}, p)) return broken;
    if (*plan.p2 == plan.p)
      return fmt::format("secondary parameters: p2 {} must be smaller than p {}",
                         to_string(*plan.p2), to_string(plan.p));
  }
  return std::nullopt;
}

std::vector<std::string> plan_name_patterns() {
  return {"ddp", "zero1", "zero2", "zero3", "zeropp", "mics-K", "hsdp-K", "amsp"};
}

namespace {

/// K GPUs fill a node first, then whole nodes.
Mesh filled_mesh(int gpus, Mesh dp, const std::string& name, const std::string& where) {
  if (gpus <= dp.intra) return {gpus, 1};
  if (gpus % dp.intra != 0)
    throw ConfigError(
        fmt::format("{}: '{}' doesn't fill whole nodes of {} GPUs", where, name, dp.intra));
  return {dp.intra, gpus / dp.intra};
}

/// The K of "mics-K": a number of GPUs or a mesh.
Mesh group_mesh(std::string_view text, Mesh dp, const std::string& name, const std::string& where) {
  if (const auto mesh = parse_mesh(text)) return *mesh;
  int gpus = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), gpus);
  if (error != std::errc{} || end != text.data() + text.size() || gpus < 1)
    throw ConfigError(fmt::format(
        "{}: '{}' needs a number of GPUs or a mesh, such as 'mics-16' or 'mics-8x2'", where, name));
  return filled_mesh(gpus, dp, name, where);
}

/// Table IV of the paper: P and G, OS of its own plans.
std::optional<ShardingPlan> table_iv(const std::string& model, Mesh dp) {
  if (model == "llama-7b") return ShardingPlan{{1, 1}, {1, 1}, {8, 1}, dp, {}};
  if (model == "llama-13b") return ShardingPlan{{4, 1}, {4, 1}, {8, 1}, dp, {}};
  if (model == "llama-30b") return ShardingPlan{{8, 1}, {8, 1}, {8, 4}, dp, {}};
  return std::nullopt;
}

}  // namespace

ShardingPlan named_plan(const std::string& name, Mesh dp, const std::string& model_name,
                        const std::string& where) {
  constexpr Mesh kOne{1, 1};
  if (name == "ddp") return {kOne, kOne, kOne, dp, {}};
  if (name == "zero1") return {kOne, kOne, dp, dp, {}};
  if (name == "zero2") return {kOne, dp, dp, dp, {}};
  if (name == "zero3") return {dp, dp, dp, dp, {}};
  if (name == "zeropp") {
    if (dp.inter == 1)
      throw ConfigError(fmt::format(
          "{}: 'zeropp' keeps a secondary copy inside each node, so dp must span nodes (it is {})",
          where, to_string(dp)));
    return {dp, dp, dp, dp, Mesh{dp.intra, 1}};
  }
  for (const std::string_view prefix : {"mics-", "hsdp-"})
    if (name.starts_with(prefix)) {
      const Mesh k = group_mesh(std::string_view(name).substr(prefix.size()), dp, name, where);
      return {k, k, k, dp, {}};
    }
  if (name == "amsp") {
    if (const auto plan = table_iv(model_name, dp)) return *plan;
    throw ConfigError(fmt::format(
        "{}: 'amsp' is the plan of the paper's Table IV, which has llama-7b, llama-13b and "
        "llama-30b but not '{}'; give the meshes p, g, os",
        where, model_name));
  }
  const auto close = nearest(name, plan_name_patterns());
  throw ConfigError(fmt::format("{}: '{}' is not a known plan{} (allowed: {}, or meshes p, g, os)",
                                where, name, close ? "; did you mean '" + *close + "'?" : "",
                                join(plan_name_patterns())));
}

}  // namespace amsp
