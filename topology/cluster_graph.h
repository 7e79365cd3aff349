#pragma once

#include <boost/graph/adjacency_list.hpp>

#include <string>
#include <vector>

#include "core/units.h"
#include "topology/cluster_spec.h"

namespace amsp {

enum class VertexKind { kGpu, kNvswitch, kNic, kLeaf, kSpine };
enum class LinkKind { kNvlink, kPcie, kNic, kFabric };

/// "node3/gpu5", "node3/nvswitch0", "node3/nic2", "leaf1", "spine0".
struct Vertex {
  VertexKind kind;
  int node = -1;   // -1 for switches of the fabric
  int index = 0;   // inside the node; of the switch
};
std::string to_string(const Vertex& vertex);

using LinkId = int;

/// One direction of a cable or bundle.
struct Link {
  LinkId id = 0;
  LinkKind kind = LinkKind::kNvlink;
  BytesPerSec bandwidth;  // datasheet
  BytesPerSec capacity;   // best payload: what simulation shares
};

using BoostGraph = boost::adjacency_list<boost::vecS, boost::vecS, boost::bidirectionalS, Vertex, Link>;
using VertexId = BoostGraph::vertex_descriptor;

/// A part of a route: this fraction of the traffic crosses this link.
struct RouteShare {
  LinkId link;
  double fraction;
};

/// The cluster as a graph of GPUs, NVSwitches, NICs, leaf and spine switches. Immutable.
/// Ids are dense and in order of construction, hence deterministic.
class ClusterGraph {
 public:
  /// Throws ConfigError if the spec is inconsistent or two GPUs can't reach each other
  /// (names both).
  explicit ClusterGraph(const ClusterSpec& spec);

  const ClusterSpec& spec() const { return spec_; }
  const BoostGraph& graph() const { return graph_; }
  int link_count() const { return static_cast<int>(links_.size()); }
  const Link& link(LinkId id) const;
  /// "node3/gpu5 -> node3/nvswitch0".
  std::string link_name(LinkId id) const;
  /// GPU `index` of node `node`, and the NIC it uses.
  VertexId gpu(int node, int index) const;
  VertexId nic(int node, int index) const;
  /// Shortest path with equal-cost multi-path: traffic splits evenly at every vertex over the
  /// next hops of shortest paths (counted in links). Fractions of the links that leave `from`
  /// add up to 1. Cached; order is by link id.
  const std::vector<RouteShare>& route(VertexId from, VertexId to) const;

 private:
  ClusterSpec spec_;
  BoostGraph graph_;
  std::vector<BoostGraph::edge_descriptor> links_;
  std::vector<VertexId> first_gpu_, first_nic_;  // by node
  mutable std::vector<std::vector<std::pair<VertexId, std::vector<RouteShare>>>> routes_;
};

}  // namespace amsp
