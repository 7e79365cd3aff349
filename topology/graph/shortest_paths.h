#pragma once

#include <functional>
#include <vector>

#include "topology/graph/cluster_graph.h"

namespace amsp {

/// Sends one unit of traffic from `from` to `to` over all shortest paths (counted in links),
/// splitting evenly over the next hops at every vertex. `passes(v)` says whether a path may have
/// `v` inside; the ends need not pass. The result is ordered by link id; it is empty if from == to
/// or if there is no path.
///
/// Searches from both ends, so the work grows with what lies within half the distance only.
std::vector<RouteShare> split_over_shortest_paths(const BoostGraph& graph, VertexId from,
                                                  VertexId to,
                                                  const std::function<bool(VertexId)>& passes);

}  // namespace amsp
