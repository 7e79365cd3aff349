#pragma once

#include <cstddef>
#include <vector>

#include "topology/graph/cluster_graph.h"

namespace amsp {

/// How many cables lie between vertices of the fabric: its switches, and NICs that are cabled to
/// NICs. No way has a NIC inside. Exact, and found in about the time it takes to read the graph
/// where the fabric is regular:
///
/// Vertices with the same neighbours ("twins") are equally far from everything else and 2 cables
/// from each other, and what is left without all but one of them keeps its distances. Taking twins
/// together until there are none leaves a small core, whose distances are searched. Everything
/// that ends in one vertex of the core is one class.
class FabricHops {
 public:
  explicit FabricHops(const ClusterGraph& graph);

  /// kNone for vertices that don't belong to the fabric.
  static constexpr std::size_t kNone = ~std::size_t{0};
  std::size_t class_of(VertexId vertex) const { return class_of_[vertex]; }
  std::size_t classes() const { return hops_.size(); }
  /// From any vertex of class `a` to any other one of class `b`; 2 within a class, -1 if there is
  /// no way.
  int hops(std::size_t a, std::size_t b) const { return hops_[a][b]; }

 private:
  using Neighbours = std::vector<std::vector<VertexId>>;

  static bool merge_twins(const ClusterGraph& graph, Neighbours& neighbours,
                          std::vector<VertexId>& twin_of);
  void search(const ClusterGraph& graph, const Neighbours& neighbours,
              const std::vector<VertexId>& core);

  std::vector<std::size_t> class_of_;   // by vertex
  std::vector<std::vector<int>> hops_;  // by class
};

}  // namespace amsp
