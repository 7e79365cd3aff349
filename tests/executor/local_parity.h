#pragma once

#include <vector>

#include "local_ranks.h"
#include "parity.h"

namespace amsp {

/// Parity of threads of this process.
Parity local_parity(std::int64_t steps);

/// Losses and parameters of every case are within 1e-10 of the unsharded run's over 20 steps.
/// Prints how near they are.
void expect_fp64_parity(const std::vector<ParityCase>& cases);

}  // namespace amsp
