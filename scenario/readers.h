#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/json/object_reader.h"
#include "scenario/scenario.h"

namespace amsp {

// The readers of a scenario's parts, one file each (read_model.cpp and so on). All throw
// ConfigError for what is malformed.

/// A limit on how far back attention looks, which the compute model doesn't know.
struct AttentionWindow {
  std::int64_t tokens;
  std::string where;  // "config.json#/sliding_window"
};

struct ModelPart {
  ModelSpec spec;
  std::optional<AttentionWindow> window;  // from a Hugging Face config only
};

/// `file` is the scenario's path: a relative Hugging Face path starts at its folder.
ModelPart read_model(ObjectReader model, const std::string& file);

/// The step's batch is given as exactly one of the two; `global_batch` is in sequences.
struct TrainingPart {
  TrainingSpec spec;  // micro_batches is set unless global_batch is
  std::optional<std::int64_t> global_batch;
};

TrainingPart read_training(ObjectReader training);

/// The key "stack" of the scenario: absent (what most users of the engine run), a name, or an
/// object with switches on top of a preset.
StackSpec read_stack(ObjectReader& scenario, const std::string& engine);

/// Sets micro_batches from the global batch. `where` is the place of that key. Throws
/// InfeasibleError if it doesn't divide into micro-batches on the GPUs of dp, naming what would.
void divide_global_batch(TrainingSpec& training, std::int64_t global_batch, Mesh dp,
                         const std::string& where);

/// The global batch that micro_batches make on the GPUs of dp has to stay within the limit of
/// global_batch. `where` is the place of micro_batches.
void check_global_batch(const TrainingSpec& training, Mesh dp, const std::string& where);

struct PlanPart {
  ShardingPlan plan;
  std::string name;  // as written, or "explicit"
};

/// The key "plan" of the scenario, a name or an object. Throws InfeasibleError for a plan that
/// breaks a rule of the plan space.
PlanPart read_plan(ObjectReader& scenario, const ClusterSpec& cluster,
                   const std::string& model_name);

/// The key "placement" of the scenario: absent (packed), "packed", "scattered", or an object with
/// the cluster's node of every node of dp: {"nodes": [0, 4, 8, 12]}.
PlacementSpec read_placement(ObjectReader& scenario, Mesh dp, int nodes);

/// The object "conditions" of the scenario: slow GPUs, slow and failed links, traffic of others,
/// jitter.
Conditions read_conditions(ObjectReader conditions, Mesh dp);

/// The key "engine" of the scenario: absent, a name or an object.
EnginePolicy read_engine(ObjectReader& scenario);

ReportSpec read_report(ObjectReader report);

}  // namespace amsp
