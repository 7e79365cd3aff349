#pragma once

#include <functional>
#include <string>

#include "sim/workload.h"

namespace amsp {

/// Plays a workload on SimGrid and returns when every activity ran, in seconds from the start.
/// `name` is asked for activities only when the simulation gets stuck: InternalError then lists
/// who waits for whom. One SimGrid engine per process: the clock goes on between calls, the
/// resources of former calls stay (SimGrid can't take them back).
ActivityTimes play(const Workload& workload, const std::function<std::string(int)>& name);

}  // namespace amsp
