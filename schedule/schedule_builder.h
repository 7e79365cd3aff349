#pragma once

#include "schedule/task_graph.h"
#include "training/engine_policy.h"
#include "training/model.h"
#include "training/plan.h"
#include "training/training.h"

namespace amsp {

/// AMSP's schedule of a valid plan as one rank's program. The window holds the
/// tail of step 0 (optimizer, parameter update), then steps 1..full_steps, and the mark at which
/// the forward of the step after could start.
TaskGraph build_schedule(const ModelSpec& model, const TrainingSpec& training,
                         const ShardingPlan& plan, const EnginePolicy& engine, int full_steps = 1);

}  // namespace amsp
