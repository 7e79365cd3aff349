#pragma once

#include <vector>

#include "topology/collective/collective.h"
#include "topology/collective/collective_ring.h"
#include "topology/graph/cluster_graph.h"
#include "topology/spec/nccl_spec.h"
#include "topology/spec/placement.h"

namespace amsp::nccl {

/// What one group puts on every link during the whole call, by algorithm; v bytes, n members on N
/// nodes, K channels over nodes, one per NIC that the group uses in a node, each with v / K:
///   ring            RingNetwork::loads
///   tree            chains inside (along the ring's walks), each hop v / K both ways; double
///   binary
///                   trees over nodes, each edge v / (2 K) both ways. In one node: n chains of v /
///                   n
///   NVLS            every port v (n + 1) / n both ways for an all-reduce: to the switch for its
///   own
///                   reduction, and the result of its part; back likewise. All-gather: v / n to the
///                   switch, v back; reduce-scatter the other way round
///   NVLSTree        NVLS inside, with the heads at the NICs; double trees over nodes
///   CollNet direct  every member sends each head its part, v / K, and gets it back
///   CollNet chain   chains inside
///   SHARP           (NVLS over nodes, CollNet) a switch tree per NIC of a node, every link of it
///                   v / K both ways, once. All-gather: up what comes from below, down v / K
///   PAT             v / n for each piece to the rank 2^k further on
/// On nodes with direct NVLink the traffic inside is spread evenly over all pairs.
class Loads {
 public:
  Loads(const ClusterGraph& graph, const Placement& placement);

  /// Ordered by link. Requires that the algorithm can run the call (nccl::obstacle).
  std::vector<LinkLoad> of(NcclAlgorithm algorithm, const CollectiveCall& call, int group) const;

  const std::vector<std::vector<Rank>>& groups(const SubMesh& mesh) const;
  const RingNetwork& rings() const { return rings_; }

 private:
  const ClusterGraph* graph_;
  const Placement* placement_;
  RingNetwork rings_;
  mutable LoadSum sum_;
  mutable std::map<SubMesh, std::vector<std::vector<Rank>>> groups_;
};

}  // namespace amsp::nccl
