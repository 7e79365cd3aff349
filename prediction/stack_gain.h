#pragma once

#include <optional>

#include "core/units.h"
#include "lowering/compute_model.h"
#include "scenario/scenario.h"

namespace amsp {

/// Compute time of a step, of one GPU, that torch.compile would save: the modules' kernels under
/// the scenario's stack less those under the stack "compiled", what is recomputed included, the
/// engine's copies and the optimizer not. std::nullopt if the stack's kernels aren't eager ones.
std::optional<Seconds> gain_of_compiling(const Scenario& scenario, const ComputeModel& compute);

}  // namespace amsp
