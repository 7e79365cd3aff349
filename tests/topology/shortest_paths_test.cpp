#include "topology/graph/shortest_paths.h"

#include <gtest/gtest.h>

#include <map>
#include <utility>

#include "topology/graph/boost_graph.h"

namespace amsp {
namespace {

/// A graph whose links have the ids 0, 1, ... in the order given.
BoostGraph graph_of(const std::vector<std::pair<VertexId, VertexId>>& links) {
  BoostGraph graph;
  int id = 0;
  for (const auto& [from, to] : links) boost::add_edge(from, to, Link{id++, {}, {}, {}, {}}, graph);
  return graph;
}

std::map<LinkId, double> split(const BoostGraph& graph, VertexId from, VertexId to,
                               VertexId blocked = VertexId(-1)) {
  std::map<LinkId, double> shares;
  for (const RouteShare& share :
       split_over_shortest_paths(graph, from, to, [&](VertexId v) { return v != blocked; }))
    shares[share.link] = share.fraction;
  return shares;
}

using Shares = std::map<LinkId, double>;

TEST(ShortestPaths, SplitEvenlyAtEveryVertexNotOverPaths) {
  // 0 forks to 1 and 2, 1 forks again to 3 and 4, 2 goes on to 5: three paths, but a half each
  const BoostGraph graph =
      graph_of({{0, 1}, {0, 2}, {1, 3}, {1, 4}, {2, 5}, {3, 6}, {4, 6}, {5, 6}});
  EXPECT_EQ(
      split(graph, 0, 6),
      (Shares{{0, 0.5}, {1, 0.5}, {2, 0.25}, {3, 0.25}, {4, 0.5}, {5, 0.25}, {6, 0.25}, {7, 0.5}}));
}

TEST(ShortestPaths, LongerWaysCarryNothing) {
  // 0-1-2 against 0-3-4-2; and a dead end at 5
  const BoostGraph graph = graph_of({{0, 1}, {1, 2}, {0, 3}, {3, 4}, {4, 2}, {1, 5}});
  EXPECT_EQ(split(graph, 0, 2), (Shares{{0, 1}, {1, 1}}));
  // unless the short one is blocked
  EXPECT_EQ(split(graph, 0, 2, 1), (Shares{{2, 1}, {3, 1}, {4, 1}}));
}

TEST(ShortestPaths, EveryLengthOfAChain) {
  const BoostGraph graph = graph_of({{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}});
  Shares expected;
  for (VertexId to = 0; to <= 5; ++to) {
    EXPECT_EQ(split(graph, 0, to), expected) << to;
    expected[static_cast<LinkId>(to)] = 1;
  }
}

TEST(ShortestPaths, ParallelLinksShareTheTraffic) {
  EXPECT_EQ(split(graph_of({{0, 1}, {0, 1}, {1, 2}}), 0, 2), (Shares{{0, 0.5}, {1, 0.5}, {2, 1}}));
}

TEST(ShortestPaths, EndsNeedNotPass) {
  const BoostGraph graph = graph_of({{0, 1}, {1, 2}});
  EXPECT_EQ(split(graph, 0, 2, 0), (Shares{{0, 1}, {1, 1}}));
  EXPECT_EQ(split(graph, 0, 2, 2), (Shares{{0, 1}, {1, 1}}));
}

TEST(ShortestPaths, NoPathIsEmpty) {
  const BoostGraph graph = graph_of({{0, 1}, {1, 2}, {4, 3}});
  EXPECT_TRUE(split(graph, 0, 3).empty());
  EXPECT_TRUE(split(graph, 2, 0).empty());  // against the links
  EXPECT_TRUE(split(graph, 0, 2, 1).empty());
}

}  // namespace
}  // namespace amsp
