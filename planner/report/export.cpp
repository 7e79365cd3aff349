#include "planner/report/export.h"

#include <filesystem>

#include "core/error.h"
#include "core/nearest.h"

namespace amsp {

const std::vector<std::string>& export_formats() {
  static const std::vector<std::string> names = {"scenario", "deepspeed", "fsdp2", "internevo"};
  return names;
}

ExportFormat export_format(const std::string& name) {
  const auto& names = export_formats();
  const auto found = std::find(names.begin(), names.end(), name);
  AMSP_CHECK(found != names.end(), "no export format '{}'", name);
  return static_cast<ExportFormat>(found - names.begin());
}

Exported export_candidate(const PlanningCase& question, const Candidate& candidate,
                          ExportFormat format, const std::string& folder) {
  switch (format) {
    case ExportFormat::kScenario:
      return export_scenario(question, candidate, folder);
    case ExportFormat::kDeepSpeed:
      return export_deepspeed(question.scenario, candidate);
    case ExportFormat::kFsdp2:
      return export_fsdp2(question.scenario, candidate);
    case ExportFormat::kInternEvo:
      return export_internevo(question.scenario, candidate);
  }
  throw InternalError("an ExportFormat outside its enumeration");
}

namespace {

/// The same file, named from another folder.
std::string moved(const std::string& path, const std::string& scenario_file,
                  const std::string& folder) {
  const std::filesystem::path given = path;
  if (given.is_absolute()) return path;
  const auto target = std::filesystem::absolute(scenario_file).parent_path() / given;
  return target.lexically_normal()
      .lexically_relative(std::filesystem::absolute(folder).lexically_normal())
      .string();
}

}  // namespace

Exported export_scenario(const PlanningCase& question, const Candidate& candidate,
                         const std::string& folder) {
  Json json = question.json;
  json.erase("$schema");  // a path that holds from the scenario's folder
  Json& plan = json["plan"] = Json::object();
  plan["p"] = to_string(candidate.plan.p);
  plan["g"] = to_string(candidate.plan.g);
  plan["os"] = to_string(candidate.plan.os);
  if (candidate.plan.p2) plan["p2"] = to_string(*candidate.plan.p2);
  const ClusterSpec& cluster = question.scenario.cluster;
  if (candidate.plan.dp != Mesh{cluster.node.gpus, cluster.nodes})
    plan["dp"] = to_string(candidate.plan.dp);
  Json& training = json["training"];
  training["micro_batch"] = candidate.training.micro_batch;
  if (training.contains("micro_batches"))
    training["micro_batches"] = candidate.training.micro_batches;
  if (candidate.training.recompute_share == 1)  // else it is the scenario's own
    training["recompute"] = candidate.training.recompute == Recompute::kFull ? "full" : "none";
  if (json["model"].contains("hf_config"))
    json["model"]["hf_config"] =
        moved(json["model"]["hf_config"].get<std::string>(), question.file, folder);
  return {true, json.dump(2) + "\n", {}};
}

}  // namespace amsp
