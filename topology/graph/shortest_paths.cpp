#include "topology/graph/shortest_paths.h"

#include <algorithm>
#include <boost/range/iterator_range.hpp>
#include <map>
#include <unordered_map>

#include "topology/graph/boost_graph.h"

namespace amsp {
namespace {

using Edge = BoostGraph::edge;

/// A breadth-first search that advances by one level at a time and keeps, for every vertex
/// reached, the last edges of all shortest paths from the start (or the first, to the start).
class Search {
 public:
  explicit Search(VertexId start) : reached_{{start, {}}}, level_{start} {}

  const std::vector<VertexId>& level() const { return level_; }
  bool has_reached(VertexId vertex) const { return reached_.contains(vertex); }
  const std::vector<Edge>& edges(VertexId vertex) const { return reached_.at(vertex).edges; }

  /// `edges_of(v)` yields edges and `far_end(e)` their other ends; those that `enters` are reached.
  template <class EdgesOf, class FarEnd, class Enters>
  void advance(const EdgesOf& edges_of, const FarEnd& far_end, const Enters& enters) {
    ++depth_;
    std::vector<VertexId> next;
    for (const VertexId vertex : level_) {
      for (const Edge& edge : boost::make_iterator_range(edges_of(vertex))) {
        const VertexId neighbour = far_end(edge);
        if (!enters(neighbour)) continue;
        const auto [entry, is_new] = reached_.try_emplace(neighbour, Reached{depth_, {}});
        if (is_new) next.push_back(neighbour);
        if (entry->second.distance == depth_) entry->second.edges.push_back(edge);
      }
    }
    level_ = std::move(next);
  }

 private:
  struct Reached {
    int distance = 0;
    std::vector<Edge> edges;
  };
  int depth_ = 0;
  std::unordered_map<VertexId, Reached> reached_;
  std::vector<VertexId> level_;
};

}  // namespace

std::vector<RouteShare> split_over_shortest_paths(const BoostGraph& graph, VertexId from,
                                                  VertexId to,
                                                  const std::function<bool(VertexId)>& passes) {
  if (from == to) return {};
  const auto source = [&](const Edge& edge) { return boost::source(edge, graph); };
  const auto target = [&](const Edge& edge) { return boost::target(edge, graph); };
  const auto enters = [&](VertexId v) { return v == from || v == to || passes(v); };

  // Both searches hold complete levels. So when one first reaches what the other has, the levels
  // that meet are the last ones, and every shortest path crosses the meeting.
  Search ahead(from), back(to);
  std::vector<VertexId> meeting;
  for (bool forward = true; meeting.empty(); forward = !forward) {
    if (forward)
      ahead.advance([&](VertexId v) { return boost::out_edges(v, graph); }, target, enters);
    else
      back.advance([&](VertexId v) { return boost::in_edges(v, graph); }, source, enters);
    const Search& search = forward ? ahead : back;
    if (search.level().empty()) return {};
    for (const VertexId v : search.level())
      if ((forward ? back : ahead).has_reached(v)) meeting.push_back(v);
  }

  // Next hops. Behind the meeting the search from the end knows them; ahead of it, turn round
  // the edges that led to the meeting.
  std::unordered_map<VertexId, std::vector<Edge>> hops;
  for (std::vector<VertexId> level = meeting; level.front() != from;) {
    std::vector<VertexId> before;
    for (const VertexId v : level)
      for (const Edge& edge : ahead.edges(v)) {
        std::vector<Edge>& edges = hops[source(edge)];
        if (edges.empty()) before.push_back(source(edge));
        edges.push_back(edge);
      }
    level = std::move(before);
  }

  std::vector<RouteShare> shares;
  std::map<VertexId, double> traffic{{from, 1.0}};  // ordered, so that sums round alike
  while (traffic.begin()->first != to) {
    std::map<VertexId, double> arriving;
    for (const auto& [v, amount] : traffic) {
      const auto found = hops.find(v);
      const std::vector<Edge>& edges = found != hops.end() ? found->second : back.edges(v);
      // where all paths meet is all of the traffic, whatever the rounding of its parts
      const double here = traffic.size() == 1 ? 1.0 : amount;
      const double part = here / static_cast<double>(edges.size());
      for (const Edge& edge : edges) {
        shares.push_back({graph[edge].id, part});
        arriving[target(edge)] += part;
      }
    }
    traffic = std::move(arriving);
  }
  std::sort(shares.begin(), shares.end(),
            [](const RouteShare& a, const RouteShare& b) { return a.link < b.link; });
  return shares;
}

}  // namespace amsp
