#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "scenario/scenario.h"

namespace amsp {

/// A plan that a known system would use.
struct Baseline {
  std::string name;
  std::string engine;  // the system's own
  std::optional<ShardingPlan> plan;
  std::string why_not;  // where there is none
};

/// ddp, zero1, zero2, zero3, mics, hsdp, zeropp, and amsp for the models of the paper's Table IV.
/// MiCS shards over the smallest group in which it fits (`fits` decides), HSDP over a node. Their
/// own engines: deepspeed, but fsdp2 for hsdp, ddp for ddp, amsp for amsp.
std::vector<Baseline> baselines(const Scenario& scenario,
                                const std::function<bool(const ShardingPlan&)>& fits);

}  // namespace amsp
