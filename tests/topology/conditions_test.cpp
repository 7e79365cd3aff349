// Slow, failed and shared links, slow GPUs: what they do to the cluster graph.
#include "topology/graph/conditions.h"

#include <gtest/gtest.h>

#include <map>

#include "core/error.h"
#include "tests/topology/a800_cluster.h"

namespace amsp {
namespace {

Conditions::Links links(const std::string& at, double share, double background = 0) {
  return {at, share, BytesPerSec{background}, "s.json#/here"};
}

/// Links that have less than their capacity, by name.
std::map<std::string, double> shares(const ClusterGraph& graph) {
  std::map<std::string, double> result;
  for (LinkId id = 0; id < graph.link_count(); ++id) {
    const Link& link = graph.link(id);
    if (link.available != link.capacity)
      result[graph.link_name(id)] = link.available / link.capacity;
  }
  return result;
}

std::string message(const Conditions& conditions, const ClusterSpec& spec) {
  ClusterGraph graph(spec);
  try {
    apply(conditions, graph);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Conditions, AVertexStandsForAllItsLinks) {
  ClusterGraph graph(a800_cluster(2));
  apply({{}, {links("node1/nic2", 0.5)}, {}}, graph);
  const auto slow = shares(graph);
  EXPECT_EQ(slow.size(), 2u * (1 + 2));  // a leaf and two GPUs, both ways
  EXPECT_EQ(slow.at("node1/nic2 -> leaf0"), 0.5);
  EXPECT_EQ(slow.at("node1/gpu4 -> node1/nic2"), 0.5);
}

TEST(Conditions, ArrowsNameOneDirection) {
  ClusterGraph graph(a800_cluster(2));
  apply({{}, {links("node0/nic0 -> leaf0", 0.25), links("leaf0 - node[0-1]/nic1", 0.5)}, {}},
        graph);
  EXPECT_EQ(shares(graph), (std::map<std::string, double>{{"node0/nic0 -> leaf0", 0.25},
                                                          {"node0/nic1 -> leaf0", 0.5},
                                                          {"leaf0 -> node0/nic1", 0.5},
                                                          {"node1/nic1 -> leaf0", 0.5},
                                                          {"leaf0 -> node1/nic1", 0.5}}));
}

TEST(Conditions, EntriesAddUp) {
  ClusterGraph graph(a800_cluster(2));
  const double capacity = graph.spec().node.nic_capacity.value;
  apply(
      {{}, {links("node0/nic0 -> leaf0", 0.5), links("node0/nic0 -> leaf0", 1, capacity / 4)}, {}},
      graph);
  EXPECT_NEAR(shares(graph).at("node0/nic0 -> leaf0"), 0.25, 1e-12);
}

TEST(Conditions, RoutesAvoidFailedLinks) {
  ClusterSpec spec = a800_cluster(4);
  spec.fabric.nodes_per_leaf = 2;
  spec.fabric.spines = 2;
  spec.fabric.leaf_spine_bandwidth = 100_GBps;
  ClusterGraph graph(spec);
  apply({{}, {links("leaf0 - spine1", 0)}, {}}, graph);
  EXPECT_TRUE(graph.has_failures());
  double over_first = 0;
  for (const RouteShare& share : graph.route(graph.gpu(0, 0), graph.gpu(2, 0))) {
    EXPECT_EQ(graph.link_name(share.link).find("spine1"), std::string::npos);
    if (graph.link_name(share.link) == "leaf0 -> spine0") over_first = share.fraction;
  }
  EXPECT_EQ(over_first, 1);
  EXPECT_EQ(message({{}, {links("leaf0 - spine[0-1]", 0)}, {}}, spec),
            "s.json#/here: without leaf0 -> spine1 the cluster is not connected: node0/gpu0 cannot "
            "reach node2/gpu0 (no way from node0/nic0 to node2/nic0)");
}

TEST(Conditions, ANodeKeepsItsWays) {
  EXPECT_EQ(
      message({{}, {links("node0/gpu3 - node0/nic1", 0)}, {}}, a800_cluster(2)),
      "s.json#/here: without node0/gpu3 -> node0/nic1 the cluster is not connected: node0/gpu3 "
      "cannot reach node0/nic1");
}

TEST(Conditions, WhatIsNotThereIsRefused) {
  const ClusterSpec spec = a800_cluster(2);
  EXPECT_EQ(message({{}, {links("leaf", 0.5)}, {}}, spec),
            "s.json#/here: must name vertices such as \"node3/gpu5\", \"node[0-3]/nic[0,2]\" or "
            "\"leaf0\", found \"leaf\"");
  EXPECT_EQ(message({{}, {links("node2/nic0", 0.5)}, {}}, spec),
            "s.json#/here: there is no node2/nic0 in cluster '" + spec.name +
                "' (nodes are 0 to 1; the last of one is node1/nic3)");
  EXPECT_EQ(message({{}, {links("leaf0 -> node0/gpu0", 0.5)}, {}}, spec),
            "s.json#/here: there is no link from leaf0 to node0/gpu0");
  EXPECT_EQ(message({{}, {links("node0/nic0 -> leaf0", 1, 1e12)}, {}}, spec),
            "s.json#/here: 1.00 TB/s of other traffic leave nothing of the 24.4 GB/s of "
            "node0/nic0 -> leaf0");
}

TEST(Conditions, SlownessFollowsThePlacement) {
  const ClusterSpec spec = a800_cluster(2);
  const ClusterGraph graph(spec);
  const Placement placement(spec, {8, 2}, 1);
  EXPECT_TRUE(slowness({}, graph, placement).empty());
  const auto slow = slowness({{{"node1/gpu[2-3]", 0.5, "w"}, {"node1/gpu3", 0.8, "w"}}, {}, {}},
                             graph, placement);
  ASSERT_EQ(slow.size(), 16u);
  EXPECT_EQ(slow[0], 1);
  EXPECT_EQ(slow[10], 2);
  EXPECT_EQ(slow[11], 2.5);
  EXPECT_THROW(slowness({{{"node1/nic2", 0.5, "w"}}, {}, {}}, graph, placement), ConfigError);
}

}  // namespace
}  // namespace amsp
