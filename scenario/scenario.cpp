#include "scenario/scenario.h"

#include <fmt/core.h>

#include <filesystem>
#include <utility>

#include "core/error.h"
#include "core/json/json.h"
#include "core/json/object_reader.h"
#include "scenario/readers.h"
#include "topology/read/cluster_reader.h"

namespace amsp {
namespace {

void read_schema(ObjectReader& root) {
  constexpr const char* kSchema = "amsp.scenario/1";
  if (root.has("$schema")) root.string("$schema");  // for editors
  const std::string schema = root.string("schema");
  if (schema != kSchema)
    root.fail("schema", fmt::format("must be \"{}\", found {}", kSchema, describe(schema)));
}

/// FNV-1a of 64 bits: names an input, proves nothing.
std::string fnv_hash(const std::string& text) {
  std::uint64_t hash = 14695981039346656037ULL;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  return fmt::format("{:016x}", hash);
}

/// The cost of attention is that of the whole sequence.
void check_window(const ModelPart& model, int sequence_length) {
  if (!model.window || model.window->tokens >= sequence_length) return;
  throw ConfigError(
      fmt::format("{}: attention over a window of {} tokens is not modelled, and the sequence "
                  "length {} exceeds "
                  "it",
                  model.window->where, model.window->tokens, sequence_length));
}

void check_positions(const ModelSpec& model, int sequence_length, const std::string& where) {
  if (model.positions != Positions::kLearned || model.max_positions >= sequence_length) return;
  throw ConfigError(fmt::format("{}: {} tokens exceed the model's table of {} learned positions",
                                where, sequence_length, model.max_positions));
}

}  // namespace

Scenario read_scenario(const Json& json, const std::string& file) {
  ObjectReader root(json, file + "#");
  read_schema(root);
  Scenario scenario;
  scenario.file = file;
  scenario.hash = fnv_hash(json.dump());
  scenario.name = root.string("name");
  if (scenario.name.empty()) root.fail("name", "must not be empty");
  scenario.description = root.string_or("description", "");

  ModelPart model = read_model(root.object("model"), file);
  scenario.cluster =
      read_cluster(root.object("cluster"), std::filesystem::path(file).parent_path().string());
  TrainingPart training = read_training(root.object("training"));
  check_window(model, training.spec.sequence_length);
  check_positions(model.spec, training.spec.sequence_length,
                  root.object("training").where("sequence_length"));
  if (training.spec.recompute == Recompute::kFull &&
      training.spec.recomputed_through(model.spec.layers) == 0)
    root.object("training")
        .object("recompute")
        .fail("share", fmt::format("{:.3g} of the model's {} layers is none",
                                   training.spec.recompute_share, model.spec.layers));
  scenario.engine = read_engine(root);
  scenario.stack_is_assumed = !root.has("stack");
  training.spec.stack = read_stack(root, scenario.engine.name);
  if (root.has("report")) scenario.report = read_report(root.object("report"));
  // last, so that what is malformed is told before what can't be
  root.allow("plan");
  root.allow("placement");
  root.allow("conditions");
  root.finish();
  PlanPart plan = read_plan(root, scenario.cluster, model.spec.name);
  scenario.placement = read_placement(root, plan.plan.dp, scenario.cluster.nodes);
  if (root.has("conditions"))
    scenario.conditions = read_conditions(root.object("conditions"), plan.plan.dp);
  if (const auto obstacle = engine_obstacle(scenario.engine, plan.plan))
    throw InfeasibleError(fmt::format("{}: {}", root.where("engine"), *obstacle));
  const ObjectReader place = root.object("training");
  if (training.global_batch)
    divide_global_batch(training.spec, *training.global_batch, plan.plan.dp,
                        place.where("global_batch"));
  else
    check_global_batch(training.spec, plan.plan.dp, place.where("micro_batches"));

  scenario.model = std::move(model.spec);
  scenario.training = std::move(training.spec);
  scenario.plan = plan.plan;
  scenario.plan_name = std::move(plan.name);
  return scenario;
}

MatrixPeak matrix_peak(const Scenario& scenario) {
  const GpuSpec& gpu = scenario.cluster.gpu;
  const TrainingSpec& training = scenario.training;
  if (training.parameter_bytes == 2) return {"bf16", gpu.peak_bf16};
  MatrixPeak peak{"fp64", FlopPerSec{0}};
  if (training.tf32)
    peak = {"tf32", gpu.peak_tf32};
  else if (training.parameter_bytes == 4)
    peak = {"fp32", gpu.peak_fp32};
  peak.given = peak.rate.value > 0;
  if (!peak.given) peak.rate = gpu.peak_bf16;
  return peak;
}

Placement place(const Scenario& scenario) {
  return {scenario.cluster, scenario.plan.dp, scenario.plan.os.inter, scenario.placement};
}

Scenario load_scenario(const std::string& path, const std::vector<std::string>& overrides) {
  Json json = read_json_file(path);
  for (const std::string& assignment : overrides) apply_override(json, assignment);
  return read_scenario(json, path);
}

}  // namespace amsp
