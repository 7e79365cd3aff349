#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/units.h"
#include "topology/spec/cluster_spec.h"
#include "topology/spec/vertex.h"

namespace amsp {

/// kCpu joins the CPUs of a node, kFabric two switches.
enum class LinkKind { kNvlink, kPcie, kCpu, kNic, kFabric };

using LinkId = int;

/// One direction of a cable or bundle.
struct Link {
  LinkId id = 0;
  LinkKind kind = LinkKind::kNvlink;
  BytesPerSec bandwidth;  // datasheet
  BytesPerSec capacity;   // best payload
  BytesPerSec available;  // what simulation shares: less where a link is slow; 0 if it failed
};

struct BoostGraph;  // topology/graph/boost_graph.h
using VertexId = std::size_t;

/// A part of a route: this fraction of the traffic crosses this link.
struct RouteShare {
  LinkId link;
  double fraction;
};

/// The links of a route: ids in `shares` are `shift` too low.
struct ShiftedRoute {
  const std::vector<RouteShare>& shares;
  LinkId shift;
};

/// The cluster as a graph of GPUs, NVSwitches, NICs, leaf and spine switches. Immutable once
/// conditions are applied (topology/graph/conditions.h).
/// Ids are dense and in order of construction, hence deterministic; the two directions of a
/// cable are links 2k and 2k+1.
///
///   NVLink     gpu - nvswitch, the GPU's rate split evenly over the switches; or, direct,
///              gpu - gpu for every pair of a node, the rate split evenly over the others
///   PCIe       gpu - nic, for the NIC that the GPU uses; without NVLink instead gpu - pcie and
///              pcie - nic, where `pcie` stands for the node's switches and host bridge
///   NIC        nic - leaf
///   fabric     leaf - spine and spine - core, as FabricSpec says
///
/// or, for a node or fabric by links, just these.
class ClusterGraph {
 public:
  /// Throws ConfigError if the spec is inconsistent or two GPUs can't reach each other
  /// (names both).
  explicit ClusterGraph(const ClusterSpec& spec);
  ~ClusterGraph();
  ClusterGraph(const ClusterGraph&) = delete;  // edge descriptors point into the graph
  ClusterGraph& operator=(const ClusterGraph&) = delete;

  const ClusterSpec& spec() const { return spec_; }
  const BoostGraph& graph() const { return *graph_; }
  int vertex_count() const;
  const Vertex& vertex(VertexId id) const;
  int link_count() const;
  const Link& link(LinkId id) const;
  /// Where a link starts and ends.
  VertexId source(LinkId id) const;
  VertexId target(LinkId id) const;
  /// Lowers what a link can carry, in (0, capacity].
  void set_available(LinkId id, BytesPerSec rate);
  /// No route crosses the link from now on, nor the other direction of its cable; before the first
  /// route only. Throws ConfigError if that cuts GPUs off from each other (names two).
  void fail(LinkId id);
  bool has_failures() const { return has_failures_; }
  /// "node3/gpu5 -> node3/nvswitch0".
  std::string link_name(LinkId id) const;
  /// GPU `gpu` of node `node`, and the NIC which that GPU uses.
  VertexId gpu(int node, int gpu) const;
  VertexId nic(int node, int gpu) const;
  /// Shortest path with equal-cost multi-path: traffic splits evenly at every vertex over the
  /// next hops of shortest paths (counted in links). Fractions of the links that leave `from`
  /// add up to 1. Order is by link id; empty for from == to.
  ///
  /// A route has no GPU inside, leaves and enters a GPU's node by the NIC which that GPU uses, and
  /// stays inside the node if both ends are there, on NVSwitches where it has them. So any two GPUs
  /// and any two NICs are connected, but not a GPU and a NIC of its node that others use: that is
  /// an InternalError.
  ///
  /// With FabricSpec::ecmp_flows, traffic between nodes is that many equal flows instead, and each
  /// takes one next hop at every vertex, by a hash of both ends, the flow, the vertex and the seed:
  /// as switches do that hash headers. Flows of several pairs may then meet on one link.
  ///
  /// Computed when first asked for, then cached: the reference stays valid as long as the
  /// graph, and calls from several threads need a lock.
  const std::vector<RouteShare>& route(VertexId from, VertexId to) const;
  /// The same, computed once for all nodes if both ends are in one.
  ShiftedRoute shifted_route(VertexId from, VertexId to) const;

 private:
  /// Throws ConfigError if a NIC that GPUs use has no way to those of other nodes.
  void check_reach() const;
  /// Throws ConfigError if GPUs of a node have no way to each other or to their NICs.
  void check_node(int node) const;
  bool are_gpus_of_one_node(VertexId a, VertexId b) const;
  std::vector<RouteShare> hashed(VertexId from, VertexId to,
                                 const std::vector<RouteShare>& shares) const;
  bool passes(VertexId inside, VertexId from, VertexId to) const;
  /// The link from a NIC to the switch that it is on; -1 if there are several, or none.
  LinkId uplink(VertexId nic) const;
  /// Of GPUs of two nodes: the way to each NIC's switch, which is the only one, and between the
  /// switches, found once for all that are on them. Empty where a NIC is on several switches.
  std::vector<RouteShare> over_one_switch_each(VertexId from, VertexId to) const;

  ClusterSpec spec_;
  std::unique_ptr<BoostGraph> graph_;
  bool has_failures_ = false;
  LinkId node_links_ = 0;                        // links inside each node
  std::vector<VertexId> first_gpu_, first_nic_;  // by node; GPUs and NICs of a node are consecutive
  mutable std::unordered_map<std::uint64_t, std::vector<RouteShare>> routes_;
};

}  // namespace amsp
