#pragma once

#include <functional>
#include <string>
#include <vector>

#include "executor/run/execution.h"
#include "scenario/scenario.h"

namespace amsp {

/// Runs a scenario on scenario.plan.dp.size() ranks and returns what rank 0 got.
using RunRanks = std::function<Execution(const Scenario&, const ExecutionOptions&)>;

/// A model small enough to run hundreds of plans: two layers, grouped queries, sizes that no
/// number of ranks divides.
Scenario tiny_scenario(Mesh dp, int parameter_bytes);

/// A scenario with a plan by name (named_plan, for which dp must suit), or "amsp-like": parameters
/// over half a node, gradients and optimizer states over all ranks.
Scenario tiny_scenario(Mesh dp, int parameter_bytes, const std::string& plan, int micro_batches);

struct ParityCase {
  Scenario scenario;
  std::string name;  // "dp 4x2, p 2x1, g 2x1, os 4x1, recompute, M=2, noBC"
};
/// Every valid plan of dp, with and without secondary parameters, with and without recompute, for
/// each number of micro-batches and the four overlap modes of AMSP's table V.
std::vector<ParityCase> parity_cases(Mesh dp, int parameter_bytes,
                                     const std::vector<int>& micro_batches);

/// How far a run is from another of the same global batches.
struct Distance {
  double loss = 0;        // largest relative difference of a step's loss
  double parameters = 0;  // largest over tensors of |a - b| / |b| in the Euclidean norm
};
Distance distance(const Execution& many, const Execution& one);

/// The run without sharding of what `scenario` runs: one rank that runs all micro-batches of all
/// ranks, one after the other, in the same precision.
Scenario unsharded(const Scenario& scenario);

/// Compares runs with the unsharded run of the same global batches.
class Parity {
 public:
  Parity(RunRanks run, std::int64_t steps) : run_(std::move(run)), steps_(steps) {}
  Distance distance(const Scenario& scenario) {
    return amsp::distance(run(scenario), one(scenario));
  }
  Execution run(const Scenario& scenario) const { return run_(scenario, options()); }
  /// The unsharded run, made once.
  const Execution& one(const Scenario& scenario);
  ExecutionOptions options() const;

 private:
  RunRanks run_;
  std::int64_t steps_;
  std::map<std::string, Execution> ones_;  // by what they depend on
};

}  // namespace amsp
