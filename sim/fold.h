#pragma once

#include "sim/expansion.h"

namespace amsp {

/// The task graph for one representative of every class of ranks and process groups that behave
/// alike: the same times as expand() gives, at the cost of the classes instead of the ranks.
/// docs/folding.md says why. Where all ranks differ, every rank is its own class.
Expansion fold(const Lowering& lowering);

}  // namespace amsp
