#pragma once

#include <string>

#include "core/json/json_fwd.h"
#include "executor/run/execution.h"
#include "scenario/scenario.h"

namespace amsp {

/// Where a run took place.
struct ExecutionPlace {
  std::string device, fabric, data;
};

/// For people; fits 100 columns: step times, losses, and the memory that was predicted beside what
/// the arena held.
std::string text_report(const Scenario& scenario, const ExecutionPlace& place,
                        const Execution& execution);
/// For programs: units in keys ("amsp.execution/1").
OrderedJson json_report(const Scenario& scenario, const ExecutionPlace& place,
                        const Execution& execution);

}  // namespace amsp
