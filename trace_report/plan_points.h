#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/json/json_fwd.h"

namespace amsp {

/// What the charts of a search need, from the JSON lines of a planner ("amsp.plan/1"): of its
/// candidates memory against throughput, of its cases (`--gpus`) the best step time against GPUs.
/// {"candidates": [{name, memory_bytes, tokens_per_gpu_second, fits}],
///  "cases": [{gpus, step_time_s, tokens_per_gpu_second, name}]}
/// Throws ConfigError with file and line for what isn't of the schema.
OrderedJson plan_points(std::string_view lines, const std::string& file);

}  // namespace amsp
