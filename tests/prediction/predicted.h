#pragma once

#include <string>
#include <vector>

#include "core/json/json.h"
#include "prediction/predict.h"
#include "sim/simulator.h"

namespace amsp {

inline Predicted predict(const Scenario& scenario, int full_steps = 1) {
  return predict(scenario, simulate, full_steps);
}

inline double step_s(const Predicted& p) {
  return p.prediction.step_time.value;
}

/// A tiny model on an unprofiled cluster; overrides as with --set.
inline Scenario tiny_scenario(const std::vector<std::string>& overrides) {
  Json json = parse_json(R"({
    "schema": "amsp.scenario/1", "name": "tiny",
    "model": {"preset": "llama-tiny"},
    "cluster": {"preset": "dgx-a100", "nodes": 1},
    "training": {"sequence_length": 512, "micro_batches": 1},
    "plan": "ddp"})",
                         "tiny.json");
  for (const std::string& override : overrides) apply_override(json, override);
  return read_scenario(json, "tiny.json");
}

/// One of the paper's cases on its testbed.
inline Scenario paper_scenario(const std::string& model, int nodes, int micro_batches,
                               const std::vector<std::string>& overrides = {}) {
  Json json = parse_json(R"({
    "schema": "amsp.scenario/1", "name": "paper",
    "model": {"preset": ")" + model +
                             R"("},
    "cluster": {"preset": "a800-amsp-testbed", "nodes": )" +
                             std::to_string(nodes) + R"(},
    "training": {"sequence_length": 4096, "micro_batches": )" +
                             std::to_string(micro_batches) + R"(, "recompute": ")" +
                             (model == "llama-30b" ? "full" : "none") + R"("},
    "plan": "amsp"})",
                         "paper.json");
  for (const std::string& override : overrides) apply_override(json, override);
  return read_scenario(json, "paper.json");
}

inline const std::vector<std::string> kNoOverlap = {
    "engine.preset=amsp", "engine.overlap.gather=false", "engine.overlap.all_reduce=false",
    "engine.overlap.broadcast=false"};

inline std::vector<std::string> operator+(std::vector<std::string> a,
                                          const std::vector<std::string>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

}  // namespace amsp
