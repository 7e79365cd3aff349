#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/json/json_fwd.h"
#include "topology/graph/conditions.h"
#include "topology/spec/cluster_spec.h"
#include "topology/spec/placement.h"
#include "training/engine_policy.h"
#include "training/model.h"
#include "training/plan.h"
#include "training/training.h"

namespace amsp {

/// What to report beside the step itself.
struct ReportSpec {
  std::optional<double> token_budget;        // tokens of the whole training run
  std::optional<double> price_per_gpu_hour;  // in `currency`
  std::string currency;
};

/// Everything one prediction needs. All of it was checked on its own; whether the plan is
/// allowed and fits is asked separately (broken_rule, estimate_memory).
struct Scenario {
  std::string name;
  std::string description;
  std::string file;  // for messages
  std::string hash;  // of the JSON text read, overrides included: 16 hex digits
  ModelSpec model;
  ClusterSpec cluster;
  TrainingSpec training;
  ShardingPlan plan;
  std::string plan_name;  // as written: "zero3", or "explicit"
  PlacementSpec placement;
  Conditions conditions;
  EnginePolicy engine;
  bool stack_is_assumed = false;  // training.stack is what most users of the engine run
  ReportSpec report;

  std::int64_t global_batch() const {
    return std::int64_t{training.micro_batch} * training.micro_batches * plan.dp.size();
  }
};

/// What the GPU does at most in the type of the scenario's matrix products.
struct MatrixPeak {
  std::string type;  // "bf16", "tf32", "fp32", "fp64"
  FlopPerSec rate;
  bool given = true;  // else `rate` is bf16's: the GPU's description has none of that type
};
MatrixPeak matrix_peak(const Scenario& scenario);

/// Where the scenario's ranks run. A packed placement keeps the nodes that the optimizer states are
/// sharded over, the widest sharding group, under one leaf.
Placement place(const Scenario& scenario);

/// Reads "amsp.scenario/1" (scenarios/amsp.scenario.schema.json). `json` comes from the file
/// named `file`, which is used in messages and to resolve a relative Hugging Face config path.
/// Throws ConfigError for everything malformed, InfeasibleError for a plan that breaks a rule of
/// the plan space (names the rule) or a global batch that doesn't divide (says which would).
Scenario read_scenario(const Json& json, const std::string& file);

/// read_json_file, then the overrides ("training.micro_batches=8"), then read_scenario.
Scenario load_scenario(const std::string& path, const std::vector<std::string>& overrides = {});

/// Sets the value at a dotted path. The text after '=' is taken as JSON if it parses as a number,
/// boolean, null, object, array or quoted string, else as a string; text that begins like one of
/// the last three has to be one. null removes the key. Missing objects on the way are made. Array
/// elements are addressed by number. Throws ConfigError for a malformed override, a path through
/// a value that is no object, or a key to be removed that isn't there; `json` is then undefined.
void apply_override(Json& json, const std::string& assignment);

}  // namespace amsp
