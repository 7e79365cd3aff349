#pragma once

#include <string>
#include <vector>

#include "topology/cluster_spec.h"
#include "topology/collective.h"
#include "topology/nccl_tuner.h"
#include "topology/placement.h"

namespace amsp {

/// How a choice runs a call, step by step, for people: the way of one channel through the first
/// group with the names of its GPUs, and how many bytes move where. One paragraph an entry, without
/// line breaks. Groups of more than 16 members are abbreviated.
std::vector<std::string> explain_steps(const NodeSpec& node, const Placement& placement,
                                       const CollectiveCall& call, const nccl::Choice& choice);

}  // namespace amsp
