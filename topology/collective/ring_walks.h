#pragma once

#include <vector>

#include "topology/spec/cluster_spec.h"
#include "topology/spec/mesh.h"

namespace amsp {

/// GPUs of a node that one group of `mesh` takes, from its first one on.
std::vector<int> gpus_of_group(const SubMesh& mesh, int first_gpu);

/// The NICs that one group uses in each of its nodes: the distinct NICs that its members there
/// are affine to, in the order of those members. `first_gpu` is the GPU of its first member.
std::vector<int> nics_used(const NodeSpec& node, const SubMesh& mesh, int first_gpu);

/// One ring's way through the members of a node.
struct RingWalk {
  std::vector<int> order;   // positions among the members, from entry to exit
  bool over_entry = false;  // leaves through the NIC of the entry, over that GPU's port
};

/// The walks of a group over nodes through one of them whose members are at `gpus`: one per NIC,
/// in the order of nics_used. Ring j enters at the first member affine to NIC j, visits the others
/// in cyclic order and leaves through the NIC of the last. The last is another member affine to
/// NIC j if there is one, else the member at which the previous such ring enters; so every NIC
/// sends as much as it receives. If NIC j is the only one with a single member, the last sends
/// over that member's port (NCCL calls it PXN).
std::vector<RingWalk> ring_walks(const NodeSpec& node, const std::vector<int>& gpus);

/// The same walks in the opposite direction where entry and exit are on different rails. Every
/// other node goes this way, so that a ring leaves a node by the rail on which it enters the next.
/// (NCCL exchanges pairs of rings in odd nodes for this, its crossNic of 2.) `rails` is by NIC.
std::vector<RingWalk> walks_back(const NodeSpec& node, const std::vector<int>& gpus,
                                 const std::vector<int>& rails, std::vector<RingWalk> walks);

}  // namespace amsp
