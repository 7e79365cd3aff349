#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "sim/simulator.h"
#include "topology/graph/conditions.h"

namespace amsp {

/// The factors of one step, by group of `jitter.ranks` consecutive ranks. Every sample has draws of
/// its own; the same seed, sample and group give the same factor everywhere.
std::vector<double> draw_factors(const Conditions::Jitter& jitter, int ranks, int sample);

/// Step times of jitter.samples steps, in order of the draws, simulated by `workers` processes.
/// `progress` hears how many are done. Throws what the simulation throws.
std::vector<Seconds> sample_steps(const Lowering& lowering, const Conditions::Jitter& jitter,
                                  int workers, const std::function<void(std::size_t)>& progress);

}  // namespace amsp
