#pragma once

#include <string>
#include <vector>

#include "training/training.h"

namespace amsp {

/// The optimizers known by name (data/optimizers.json), "adam" first.
std::vector<std::string> optimizer_names();
/// Requires a name of optimizer_names().
OptimizerSpec optimizer(const std::string& name);

}  // namespace amsp
