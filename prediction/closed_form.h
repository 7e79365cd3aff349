#pragma once

#include <map>
#include <string>

#include "lowering/lowering.h"
#include "topology/collective/collective.h"
#include "training/engine_policy.h"
#include "training/model.h"
#include "training/plan.h"
#include "training/training.h"

namespace amsp {

/// The sum over the tasks of one step, each alone on idle resources and nothing overlapped; where
/// ranks differ, the slowest. Equals the simulated step when all overlap is off and no two groups
/// share a link.
struct ExactCost {
  Seconds compute;                               // optimizer included
  std::map<std::string, Seconds> communication;  // by traffic class
  Seconds total;
};
ExactCost exact_cost(const Lowering& lowering);

/// T_comm in averages, as the paper prints it (AMSP v2, equations of T_p, T_g, T_os):
/// an objective for comparing plans, blind to contention and overlap.
///   T_p   = M sum_i [n_i t(AG, 2 Phi_i, p) + t(RS, g Phi_i, p)], n_i = 2, but 1 for the embedding;
///           with p2 the second gather runs on p2
///   T_g   = (M-1) g Phi / (U s_p) t(AR, U, g/p)
///   T_os0 = g Phi / (U s_p) t(AR, U, dp/p)
///   T_os1 = s_os/s_p t(BC, 2 Phi / s_os, os/p)
/// with g the bytes of a gradient element. Modules without parameters don't count.
struct PaperCost {
  Seconds t_p, t_g, t_os0, t_os1;
  Seconds total() const { return t_p + t_g + t_os0 + t_os1; }
};
PaperCost paper_cost(const ModelSpec& model, const TrainingSpec& training, const ShardingPlan& plan,
                     const EnginePolicy& engine, const CollectiveModel& collectives);

}  // namespace amsp
