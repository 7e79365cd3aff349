#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/json/json.h"
#include "trace_analysis/analyse.h"

namespace amsp {

/// A random step program (tests/traces/toy_step.h) played on 4 ranks and written as one trace.
std::string random_trace(std::uint32_t seed, int tasks);
/// A trace as PyTorch's profiler writes it, without task keys: `kernels` random kernels a step of
/// twelve names, one in eight a collective, on one rank.
std::string kineto_trace(std::uint32_t seed, int kernels, int steps, int rank = 0);

/// The text with every event changed.
std::string with_events(const std::string& trace, const std::function<void(Json& event)>& change);
/// One analysis of several traces of one rank each.
Analysis analysed_ranks(const std::vector<std::string>& traces);

}  // namespace amsp
