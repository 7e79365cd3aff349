#pragma once

#include <string>
#include <vector>

#include "planner/search/plan_space.h"
#include "scenario/scenario.h"

namespace amsp {

/// What a search varies beside the plan, at fixed global batch.
struct SearchAxes {
  bool secondary = false;    // the mesh p2 of ZeRO++
  bool micro_batch = false;  // every size that divides the sequences of a GPU
  bool recompute = false;    // none and full

  bool operator==(const SearchAxes&) const = default;
};

/// "plan", or a list such as "plan,micro_batch,recompute" of plan, p2, micro_batch, recompute.
/// Throws ConfigError for anything else and for a list without plan.
SearchAxes parse_axes(const std::string& text);

/// One thing that could be run: a plan with its batch.
struct Candidate {
  ShardingPlan plan;
  TrainingSpec training;

  bool operator==(const Candidate& other) const {
    return plan == other.plan && training.micro_batch == other.training.micro_batch &&
           training.micro_batches == other.training.micro_batches &&
           training.recompute == other.training.recompute;
  }
};

/// "8x1 8x1 8x4", or "8x8 8x8 8x8 / 8x1" with p2.
std::string meshes_of(const ShardingPlan& plan);
/// The scenario with the candidate's plan and batch.
Scenario scenario_of(const Scenario& base, const Candidate& candidate);

/// All candidates of the space along the axes, plan by plan, then by micro-batch, then without
/// recompute before with. `extra` plans (baselines with p2, say) follow, unless they are there
/// already. Their order is that of equals in a ranking.
std::vector<Candidate> candidates(const Scenario& scenario, const PlanSpace& space,
                                  const SearchAxes& axes, const std::vector<ShardingPlan>& extra);

}  // namespace amsp
