#pragma once

#include "core/units.h"
#include "topology/collective/collective.h"
#include "topology/collective/nccl_constants.h"
#include "topology/spec/cluster_spec.h"
#include "topology/spec/mesh.h"

namespace amsp {

/// Latencies of NCCL's ring algorithm with the Simple protocol. Small messages run on faster
/// protocols (LL, LL128), so for those the sums below are upper estimates.
inline constexpr Seconds kRingBase = nccl::seconds(nccl::kBaseRing[2]);
inline constexpr Seconds kNvlinkHop = nccl::seconds(nccl::kNvlinkHops.ring[2]);
inline constexpr Seconds kPcieHop = nccl::seconds(nccl::kPcieHops.ring[2]);
inline constexpr Seconds kNetworkHop = nccl::seconds(nccl::kNetworkHops.ring[2]);

/// What one ring collective on `mesh` takes besides moving bytes. Of n - 1 steps (twice as many
/// for all-reduce) N - 1 cross the network, the others a node:
///   base + steps inside * hop inside + steps over nodes * network hop
/// A broadcast fills its pipeline once over the same hops.
Seconds ring_latency(CollectiveKind kind, Mesh mesh, NvlinkKind nvlink);

/// What each message of a group call of broadcasts adds after the first: base + one slowest hop.
/// (NCCL multiplies a ring's latency by the number of operations in the group.)
Seconds next_message_latency(Mesh mesh, NvlinkKind nvlink);

}  // namespace amsp
