#pragma once

#include <string>
#include <vector>

#include "topology/collective/collective.h"
#include "topology/nccl/tuner.h"
#include "topology/spec/cluster_spec.h"
#include "topology/spec/placement.h"

namespace amsp {

/// How a choice runs a call, step by step, for people: the way of one channel through the first
/// group with the names of its GPUs, and how many bytes move where. One paragraph an entry, without
/// line breaks. Groups of more than 16 members are abbreviated.
std::vector<std::string> explain_steps(const NodeSpec& node, const Placement& placement,
                                       const CollectiveCall& call, const nccl::Choice& choice);

}  // namespace amsp
