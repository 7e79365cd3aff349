#pragma once

#include <string>
#include <string_view>

namespace amsp {

/// How a collective is counted, by the role of its message:
///   param_gather (all-gather of parameters), grad_scatter (reduce-scatter of a gradient),
///   grad_reduce (bucket reductions over replicas), param_update (broadcast or all-gather after
///   the optimizer), grad_norm.
/// From phase and op as task keys and traces have them; "" for compute.
std::string traffic_class(std::string_view phase, std::string_view op);

}  // namespace amsp
