#pragma once

#include <string>
#include <vector>

#include "core/json/json.h"
#include "planner/search/search.h"
#include "prediction/predict.h"
#include "sim/simulator.h"

namespace amsp {

/// A tiny model on an unprofiled cluster of `nodes` x `gpus`, with overrides as with --set.
inline Json tiny_json(int nodes, int gpus, const std::vector<std::string>& overrides = {}) {
  Json json = parse_json(R"({
    "schema": "amsp.scenario/1", "name": "tiny",
    "model": {"preset": "llama-tiny"},
    "cluster": {"preset": "dgx-a100"},
    "training": {"sequence_length": 512, "micro_batches": 1},
    "plan": "ddp"})",
                         "tiny.json");
  apply_override(json, "cluster.nodes=" + std::to_string(nodes));
  apply_override(json, "cluster.node.gpus=" + std::to_string(gpus));
  if (gpus < 8) apply_override(json, "cluster.node.nics.count=" + std::to_string(gpus));
  for (const std::string& override : overrides) apply_override(json, override);
  return json;
}

inline PlanningCase tiny_case(int nodes, int gpus, const std::vector<std::string>& overrides = {}) {
  return read_planning_case(tiny_json(nodes, gpus, overrides), "tiny.json");
}

inline Runner simulating(int workers = 2) {
  Runner runner;
  runner.play = simulate;
  runner.workers = workers;
  return runner;
}

inline double simulated_step(const Scenario& scenario) {
  const Setup setup(scenario);
  return simulate(setup.lowering()).timeline.step_time().value;
}

inline Seconds t_comm_of(const Scenario& scenario) {
  const Setup setup(scenario);
  return paper_cost(scenario.model, scenario.training, scenario.plan, scenario.engine,
                    setup.collectives())
      .total();
}

}  // namespace amsp
