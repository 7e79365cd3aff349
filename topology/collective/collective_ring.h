#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <vector>

#include "core/units.h"
#include "topology/collective/collective.h"
#include "topology/graph/cluster_graph.h"
#include "topology/spec/mesh.h"
#include "topology/spec/placement.h"

namespace amsp {

/// Messages of a call after the first: other than 0 for a group call of broadcasts only.
int later_messages(const CollectiveCall& call);

/// Adds up loads by link: dense, and cleared in time proportional to the links touched.
class LoadSum {
 public:
  explicit LoadSum(int link_count) : bytes_(static_cast<std::size_t>(link_count)) {}
  void add(const std::vector<RouteShare>& route, double bytes) { add({route, 0}, bytes); }
  void add(const ShiftedRoute& route, double bytes);
  /// Ordered by link id; the sum is empty afterwards.
  std::vector<LinkLoad> take();

 private:
  std::vector<double> bytes_;
  std::vector<LinkId> touched_;
};

/// What collectives that run as rings put on links. Keeps references to graph and placement.
/// Groups, routes, loads and bottlenecks are cached on first use, so calls from several threads
/// need a lock.
class RingNetwork {
 public:
  RingNetwork(const ClusterGraph& graph, const Placement& placement);

  const ClusterGraph& graph() const { return *graph_; }
  Mesh dp() const { return placement_->dp(); }

  /// Bytes that group `group` of process_groups(call.mesh, dp()) puts on each link during `call`,
  /// ordered by link id; links without traffic are left out.
  ///
  /// A group inside one node is one ring in group order. A group over nodes is K rings, one per NIC
  /// that it uses in a node, each with 1/K of the message; ring_walks.h has their way through a
  /// node. On nodes with direct NVLink the traffic inside is spread evenly over all pairs of
  /// members, as rings with different orders would.
  ///
  /// A broadcast message goes around the ring from its root and stops before it; several messages
  /// of one call add up. With `bytes_by_root` empty the root is the first member.
  std::vector<LinkLoad> loads(const CollectiveCall& call, int group) const;

  /// The link that takes longest if one byte crosses every hop of the rings.
  struct Bottleneck {
    LinkId link = -1;
    double load = 0;              // bytes on the link per byte on every hop
    double seconds_per_byte = 0;  // load / capacity
  };
  /// The worst over all groups of `mesh`, each alone. Ties go to the first link.
  const Bottleneck& bottleneck(const SubMesh& mesh) const;
  /// The fewest NICs per node that a group of `mesh` uses; 0 inside a node.
  int nics(const SubMesh& mesh) const;

 private:
  /// Loads of every group of a mesh, back to back.
  struct MeshLoads {
    std::vector<LinkLoad> loads;
    std::vector<std::size_t> first = {0};
    std::span<const LinkLoad> of(int group) const {
      const auto i = static_cast<std::size_t>(group);
      return {loads.data() + first[i], loads.data() + first[i + 1]};
    }
  };

  const std::vector<std::vector<Rank>>& groups(const SubMesh& mesh) const;
  /// If one byte crosses every hop.
  const MeshLoads& unit_loads(const SubMesh& mesh) const;
  /// `into[i]` are the bytes of the whole message on hops into member i.
  std::vector<LinkLoad> loads(const SubMesh& mesh, const std::vector<Rank>& group,
                              const std::vector<double>& into) const;

  const ClusterGraph* graph_;
  const Placement* placement_;
  std::vector<int> rails_;  // by NIC
  mutable LoadSum sum_;
  mutable std::map<SubMesh, std::vector<std::vector<Rank>>> groups_;
  mutable std::map<SubMesh, MeshLoads> unit_loads_;
  mutable std::map<SubMesh, Bottleneck> bottlenecks_;
};

}  // namespace amsp
