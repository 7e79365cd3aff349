#pragma once

#include <string>
#include <vector>

#include "fidelity/measured_set.h"

namespace amsp {

inline constexpr double kLargestMeasured = 1e12;

const std::vector<std::string>& metric_names();
/// Of a name among metric_names().
Metric metric_of(const std::string& name);
/// Why a value can't be one of the metric; empty: it can.
std::string value_fault(Metric metric, double value);

}  // namespace amsp
