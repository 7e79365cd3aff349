#pragma once

#include <functional>
#include <string>

#include "sim/workload.h"

namespace amsp {

/// Plays a workload on SimGrid, in a process of its own, and returns when every activity ran, in
/// seconds from the start. `name` is asked for activities only when the simulation gets stuck:
/// InternalError then lists who waits for whom.
ActivityTimes play(const Workload& workload, const std::function<std::string(int)>& name);

}  // namespace amsp
