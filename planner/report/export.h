#pragma once

#include <string>
#include <vector>

#include "planner/search/candidate.h"
#include "planner/search/planning_case.h"

namespace amsp {

/// What a search can be handed over as.
enum class ExportFormat { kScenario, kDeepSpeed, kFsdp2, kInternEvo };
/// "scenario", "deepspeed", "fsdp2", "internevo".
const std::vector<std::string>& export_formats();
/// Of a name in export_formats().
ExportFormat export_format(const std::string& name);

/// A candidate as a configuration, and what that doesn't say. Without a configuration if the
/// framework has no way to shard so: then `notes` has the one reason.
struct Exported {
  bool possible = false;
  std::string content;
  std::vector<std::string> notes;
};

/// scenario: the case's JSON with the candidate's plan and batch; `folder`, where it will lie,
/// keeps
///   a relative path to a Hugging Face config right.
/// deepspeed: a configuration file in JSON (zero_optimization of DeepSpeed 0.18, config.py).
/// fsdp2: a Python module with the device mesh and the calls of fully_shard (PyTorch 2.6 and
/// later). internevo: a Python module with InternEvo's sections data, model.checkpoint, parallel,
///   hybrid_zero_optimizer (its configs/7B_isp_sft.py explains them).
Exported export_candidate(const PlanningCase& question, const Candidate& candidate,
                          ExportFormat format, const std::string& folder);

Exported export_scenario(const PlanningCase& question, const Candidate& candidate,
                         const std::string& folder);
Exported export_deepspeed(const Scenario& scenario, const Candidate& candidate);
Exported export_fsdp2(const Scenario& scenario, const Candidate& candidate);
Exported export_internevo(const Scenario& scenario, const Candidate& candidate);

}  // namespace amsp
