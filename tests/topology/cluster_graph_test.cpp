#include "topology/graph/cluster_graph.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>

#include "core/error.h"
#include "topology/graph/boost_graph.h"

namespace amsp {
namespace {

/// 4 GPUs a node on 2 NVSwitches, 2 NICs, 2 nodes a leaf, 2 spines. GB/s: NVLink 200 (180 at
/// best), PCIe 32 (26), NIC 25 (24), leaf-spine 50.
ClusterSpec small_cluster(int nodes) {
  ClusterSpec spec;
  spec.name = "small";
  spec.nodes = nodes;
  spec.node.gpus = 4;
  spec.node.nvswitches = 2;
  spec.node.nvlink_bandwidth = 200_GBps;
  spec.node.nvlink_capacity = 180_GBps;
  spec.node.pcie_bandwidth = 32_GBps;
  spec.node.pcie_capacity = 26_GBps;
  spec.node.nics = 2;
  spec.node.nic_bandwidth = 25_GBps;
  spec.node.nic_capacity = 24_GBps;
  spec.node.nic_of_gpu = {0, 0, 1, 1};
  spec.fabric = {.nodes_per_leaf = 2, .spines = 2, .leaf_spine_bandwidth = 50_GBps};
  return spec;
}

using NamedRoute = std::map<std::string, double>;

NamedRoute named(const ClusterGraph& graph, VertexId from, VertexId to) {
  NamedRoute route;
  for (const RouteShare& share : graph.route(from, to))
    route[graph.link_name(share.link)] = share.fraction;
  return route;
}

TEST(ClusterGraph, CountsVerticesAndLinks) {
  const ClusterGraph graph(small_cluster(4));
  // 4 nodes of 4 GPUs, 2 NVSwitches, 2 NICs; 2 leaves, 2 spines
  EXPECT_EQ(graph.vertex_count(), 4 * (4 + 2 + 2) + 2 + 2);
  // a node: 4 x 2 NVLink, 4 PCIe and 2 NIC cables; 2 x 2 cables of the fabric; two ways each
  EXPECT_EQ(graph.link_count(), 2 * (4 * (4 * 2 + 4 + 2) + 2 * 2));
  EXPECT_EQ(boost::num_edges(graph.graph()), static_cast<std::size_t>(graph.link_count()));
}

TEST(ClusterGraph, NamesVertices) {
  EXPECT_EQ(to_string(Vertex{VertexKind::kGpu, 3, 5}), "node3/gpu5");
  EXPECT_EQ(to_string(Vertex{VertexKind::kNvswitch, 3, 0}), "node3/nvswitch0");
  EXPECT_EQ(to_string(Vertex{VertexKind::kPcie, 3, 0}), "node3/pcie0");
  EXPECT_EQ(to_string(Vertex{VertexKind::kNic, 3, 2}), "node3/nic2");
  EXPECT_EQ(to_string(Vertex{VertexKind::kLeaf, -1, 1}), "leaf1");
  EXPECT_EQ(to_string(Vertex{VertexKind::kSpine, -1, 0}), "spine0");
}

TEST(ClusterGraph, LinksHaveIdsInPairsAndRatesByKind) {
  const ClusterGraph graph(small_cluster(3));
  std::map<LinkKind, int> count;
  for (LinkId id = 0; id < graph.link_count(); ++id) {
    const Link& link = graph.link(id);
    EXPECT_EQ(link.id, id);
    ++count[link.kind];
    const std::string name = graph.link_name(id), back = graph.link_name(id ^ 1);
    const std::size_t arrow = name.find(" -> ");
    EXPECT_EQ(back, name.substr(arrow + 4) + " -> " + name.substr(0, arrow));
    switch (link.kind) {
      case LinkKind::kNvlink:  // half of the ports go to each of 2 switches
        EXPECT_EQ(link.bandwidth, 100_GBps);
        EXPECT_EQ(link.capacity, 90_GBps);
        break;
      case LinkKind::kPcie:
        EXPECT_EQ(link.bandwidth, 32_GBps);
        EXPECT_EQ(link.capacity, 26_GBps);
        break;
      case LinkKind::kNic:
        EXPECT_EQ(link.bandwidth, 25_GBps);
        EXPECT_EQ(link.capacity, 24_GBps);
        break;
      case LinkKind::kCpu:
        ADD_FAILURE() << "nodes by kind have no CPUs";
        break;
      case LinkKind::kFabric:
        EXPECT_EQ(link.bandwidth, 50_GBps);
        EXPECT_EQ(link.capacity, 50_GBps);
        break;
    }
  }
  EXPECT_EQ(count[LinkKind::kNvlink], 2 * 3 * 8);
  EXPECT_EQ(count[LinkKind::kPcie], 2 * 3 * 4);
  EXPECT_EQ(count[LinkKind::kNic], 2 * 3 * 2);
  EXPECT_EQ(count[LinkKind::kFabric], 2 * 2 * 2);  // 3 nodes are 2 leaves
}

TEST(ClusterGraph, EveryGpuHasItsNic) {
  const ClusterGraph graph(small_cluster(2));
  for (int gpu = 0; gpu < 4; ++gpu) {
    const Vertex& nic = graph.vertex(graph.nic(1, gpu));
    EXPECT_EQ(to_string(nic), gpu < 2 ? "node1/nic0" : "node1/nic1");
    EXPECT_EQ(to_string(graph.vertex(graph.gpu(1, gpu))), "node1/gpu" + std::to_string(gpu));
  }
}

TEST(Route, InsideANodeSplitsOverTheSwitches) {
  const ClusterGraph graph(small_cluster(2));
  EXPECT_EQ(named(graph, graph.gpu(0, 0), graph.gpu(0, 1)),
            (NamedRoute{{"node0/gpu0 -> node0/nvswitch0", 0.5},
                        {"node0/gpu0 -> node0/nvswitch1", 0.5},
                        {"node0/nvswitch0 -> node0/gpu1", 0.5},
                        {"node0/nvswitch1 -> node0/gpu1", 0.5}}));
}

TEST(Route, OnOneLeafTakesTheNicsOfBothEnds) {
  const ClusterGraph graph(small_cluster(2));
  EXPECT_EQ(named(graph, graph.gpu(0, 1), graph.gpu(1, 2)),
            (NamedRoute{{"node0/gpu1 -> node0/nic0", 1},
                        {"node0/nic0 -> leaf0", 1},
                        {"leaf0 -> node1/nic1", 1},
                        {"node1/nic1 -> node1/gpu2", 1}}));
}

TEST(Route, BetweenLeavesSplitsOverTheSpines) {
  const ClusterGraph graph(small_cluster(4));
  EXPECT_EQ(named(graph, graph.gpu(1, 3), graph.gpu(2, 0)),
            (NamedRoute{{"node1/gpu3 -> node1/nic1", 1},
                        {"node1/nic1 -> leaf0", 1},
                        {"leaf0 -> spine0", 0.5},
                        {"leaf0 -> spine1", 0.5},
                        {"spine0 -> leaf1", 0.5},
                        {"spine1 -> leaf1", 0.5},
                        {"leaf1 -> node2/nic0", 1},
                        {"node2/nic0 -> node2/gpu0", 1}}));
}

TEST(Route, SixteenSpinesCarryASixteenthEach) {
  ClusterSpec spec = small_cluster(4);
  spec.fabric.spines = 16;
  const ClusterGraph graph(spec);
  int fabric_links = 0;
  for (const RouteShare& share : graph.route(graph.gpu(0, 0), graph.gpu(3, 3))) {
    const bool fabric = graph.link(share.link).kind == LinkKind::kFabric;
    fabric_links += fabric;
    EXPECT_EQ(share.fraction, fabric ? 1.0 / 16 : 1.0);
  }
  EXPECT_EQ(fabric_links, 32);
}

TEST(Route, FromNicToNicStaysOutsideTheNodes) {
  const ClusterGraph graph(small_cluster(2));
  EXPECT_EQ(named(graph, graph.nic(0, 0), graph.nic(1, 0)),
            (NamedRoute{{"node0/nic0 -> leaf0", 1}, {"leaf0 -> node1/nic0", 1}}));
  EXPECT_EQ(named(graph, graph.gpu(0, 0), graph.nic(0, 0)),
            (NamedRoute{{"node0/gpu0 -> node0/nic0", 1}}));
  EXPECT_EQ(named(graph, graph.nic(0, 3), graph.gpu(0, 3)),
            (NamedRoute{{"node0/nic1 -> node0/gpu3", 1}}));
}

TEST(Route, ToOneselfIsEmpty) {
  const ClusterGraph graph(small_cluster(2));
  EXPECT_TRUE(graph.route(graph.gpu(1, 1), graph.gpu(1, 1)).empty());
}

TEST(Route, ANicOfOtherGpusIsOutOfReachEveryTime) {
  const ClusterGraph graph(small_cluster(2));
  for (int times = 0; times < 2; ++times) {
    try {
      graph.route(graph.gpu(0, 0), graph.nic(0, 2));
      ADD_FAILURE() << "was found";
    } catch (const InternalError& error) {
      EXPECT_TRUE(
          std::string(error.what()).ends_with("no route leads from node0/gpu0 to node0/nic1"))
          << error.what();
    }
  }
}

TEST(Route, DirectNvlinkIsOneLinkOfItsShare) {
  ClusterSpec spec = small_cluster(2);
  spec.node.nvlink = NvlinkKind::kDirect;
  const ClusterGraph graph(spec);
  for (int a = 0; a < 4; ++a)
    for (int b = 0; b < 4; ++b) {
      if (a == b) continue;
      const auto& route = graph.route(graph.gpu(1, a), graph.gpu(1, b));
      ASSERT_EQ(route.size(), 1u);
      EXPECT_EQ(route[0].fraction, 1);
      const Link& link = graph.link(route[0].link);
      EXPECT_EQ(link.kind, LinkKind::kNvlink);
      // 200 GB/s over 3 other GPUs
      EXPECT_DOUBLE_EQ(link.bandwidth.value, 200e9 / 3);
      EXPECT_DOUBLE_EQ(link.capacity.value, 60e9);
    }
  // 6 pairs of GPUs, 4 PCIe and 2 NIC cables a node; 2 to spines
  EXPECT_EQ(graph.link_count(), 2 * (2 * (6 + 4 + 2) + 2));
}

TEST(Route, WithoutNvlinkGoesThroughPcieAndTheOwnNic) {
  ClusterSpec spec = small_cluster(2);
  spec.node.nvlink = NvlinkKind::kNone;
  const ClusterGraph graph(spec);
  EXPECT_EQ(named(graph, graph.gpu(0, 0), graph.gpu(0, 1)),
            (NamedRoute{{"node0/gpu0 -> node0/pcie0", 1}, {"node0/pcie0 -> node0/gpu1", 1}}));
  EXPECT_EQ(named(graph, graph.gpu(0, 0), graph.gpu(1, 3)),
            (NamedRoute{{"node0/gpu0 -> node0/pcie0", 1},
                        {"node0/pcie0 -> node0/nic0", 1},
                        {"node0/nic0 -> leaf0", 1},
                        {"leaf0 -> node1/nic1", 1},
                        {"node1/nic1 -> node1/pcie0", 1},
                        {"node1/pcie0 -> node1/gpu3", 1}}));
}

TEST(Route, OneNodeNeedsNeitherNicsNorFabric) {
  ClusterSpec spec = small_cluster(1);
  spec.node.nics = 0;
  spec.node.nic_of_gpu.clear();
  spec.fabric = {};
  const ClusterGraph graph(spec);
  EXPECT_EQ(graph.link_count(), 2 * 8);
  EXPECT_EQ(graph.route(graph.gpu(0, 0), graph.gpu(0, 3)).size(), 4u);
}

struct Shape {
  const char* name;
  NvlinkKind nvlink;
  int nodes, spines;
};
class EveryPair : public testing::TestWithParam<Shape> {
 protected:
  static ClusterSpec spec() {
    ClusterSpec spec = small_cluster(GetParam().nodes);
    spec.node.nvlink = GetParam().nvlink;
    spec.fabric.spines = GetParam().spines;
    return spec;
  }
  static void for_all_pairs(const ClusterGraph& graph,
                            const std::function<void(VertexId, VertexId)>& check) {
    for (int a = 0; a < graph.spec().gpus(); ++a)
      for (int b = 0; b < graph.spec().gpus(); ++b)
        if (a != b) check(graph.gpu(a / 4, a % 4), graph.gpu(b / 4, b % 4));
  }
};

TEST_P(EveryPair, TrafficIsConservedAtEveryVertex) {
  const ClusterGraph graph(spec());
  for_all_pairs(graph, [&](VertexId from, VertexId to) {
    std::map<VertexId, double> balance;
    LinkId last = -1;
    for (const RouteShare& share : graph.route(from, to)) {
      EXPECT_LT(last, share.link);
      last = share.link;
      balance[graph.source(share.link)] -= share.fraction;
      balance[graph.target(share.link)] += share.fraction;
    }
    for (const auto& [vertex, left] : balance) {
      const double expected = vertex == from ? -1 : vertex == to ? 1 : 0;
      EXPECT_NEAR(left, expected, 1e-12) << to_string(graph.vertex(vertex));
    }
  });
}

TEST_P(EveryPair, ShiftedRoutesAreTheRoutes) {
  const ClusterGraph graph(spec());
  for_all_pairs(graph, [&](VertexId from, VertexId to) {
    std::map<LinkId, double> usual, shifted;
    const ShiftedRoute route = graph.shifted_route(from, to);
    for (const RouteShare& share : route.shares) shifted[share.link + route.shift] = share.fraction;
    for (const RouteShare& share : graph.route(from, to)) usual[share.link] = share.fraction;
    EXPECT_EQ(shifted, usual);
  });
}

TEST_P(EveryPair, WayBackMirrorsTheWayThere) {
  const ClusterGraph graph(spec());
  for_all_pairs(graph, [&](VertexId from, VertexId to) {
    std::map<LinkId, double> there, back;
    for (const RouteShare& share : graph.route(from, to)) there[share.link ^ 1] = share.fraction;
    for (const RouteShare& share : graph.route(to, from)) back[share.link] = share.fraction;
    EXPECT_EQ(there, back);
  });
}

TEST_P(EveryPair, StaysInsideTheNodeOrCrossesTwoNics) {
  const ClusterGraph graph(spec());
  for_all_pairs(graph, [&](VertexId from, VertexId to) {
    double on_nics = 0, hops = 0;
    for (const RouteShare& share : graph.route(from, to)) {
      hops += share.fraction;
      if (graph.link(share.link).kind == LinkKind::kNic) on_nics += share.fraction;
    }
    const Vertex &a = graph.vertex(from), &b = graph.vertex(to);
    EXPECT_EQ(on_nics, a.node == b.node ? 0 : 2);
    const int inside = GetParam().nvlink == NvlinkKind::kDirect ? 1 : 2;
    const int to_nics = GetParam().nvlink == NvlinkKind::kNone ? 4 : 2;
    const int between = a.node / 2 == b.node / 2 ? 2 : 4;
    EXPECT_NEAR(hops, a.node == b.node ? inside : to_nics + between, 1e-12);
  });
}

TEST_P(EveryPair, ReferencesOutliveLaterRoutes) {
  const ClusterGraph graph(spec());
  const std::vector<RouteShare>& first = graph.route(graph.gpu(0, 0), graph.gpu(0, 1));
  const RouteShare* const data = first.data();
  for_all_pairs(graph, [&](VertexId from, VertexId to) { graph.route(from, to); });
  EXPECT_EQ(&graph.route(graph.gpu(0, 0), graph.gpu(0, 1)), &first);
  EXPECT_EQ(first.data(), data);
}

INSTANTIATE_TEST_SUITE_P(, EveryPair,
                         testing::Values(Shape{"Switch", NvlinkKind::kSwitch, 5, 2},
                                         Shape{"Direct", NvlinkKind::kDirect, 5, 2},
                                         Shape{"Pcie", NvlinkKind::kNone, 5, 2},
                                         Shape{"SixteenSpines", NvlinkKind::kSwitch, 4, 16},
                                         Shape{"SevenSpines", NvlinkKind::kSwitch, 4, 7},
                                         Shape{"OneLeaf", NvlinkKind::kSwitch, 2, 0}),
                         [](const auto& param) { return param.param.name; });

struct BadSpec {
  const char* message;  // the whole of it
  std::function<void(ClusterSpec&)> spoil;
};

TEST(ClusterGraph, RefusesWhatIsNotConnectedOrInconsistent) {
  const BadSpec bad_specs[] = {
      {"cluster is not connected: node0/gpu0 cannot reach node2/gpu0 (two leaves and no spine)",
       [](ClusterSpec& spec) { spec.fabric.spines = 0; }},
      {"cluster is not connected: node0/gpu0 cannot reach node1/gpu0 (no NICs)",
       [](ClusterSpec& spec) { spec.node.nics = 0; }},
      {"cluster 'small': needs at least 1 node", [](ClusterSpec& spec) { spec.nodes = 0; }},
      {"cluster 'small': needs at least 1 GPU per node",
       [](ClusterSpec& spec) { spec.node.gpus = 0; }},
      {"cluster 'small': NVLink of kind switch needs at least 1 switch",
       [](ClusterSpec& spec) { spec.node.nvswitches = 0; }},
      {"cluster 'small': NVLink needs a capacity above 0 and at most its bandwidth",
       [](ClusterSpec& spec) { spec.node.nvlink_capacity = 201_GBps; }},
      {"cluster 'small': PCIe needs a capacity above 0 and at most its bandwidth",
       [](ClusterSpec& spec) { spec.node.pcie_capacity = {}; }},
      {"cluster 'small': a NIC needs a capacity above 0 and at most its bandwidth",
       [](ClusterSpec& spec) { spec.node.nic_bandwidth = 23_GBps; }},
      {"cluster 'small': needs the NIC of each of 4 GPUs, has 3",
       [](ClusterSpec& spec) { spec.node.nic_of_gpu.pop_back(); }},
      {"cluster 'small': a GPU uses NIC 2 of 2",
       [](ClusterSpec& spec) { spec.node.nic_of_gpu[0] = 2; }},
      {"cluster 'small': can't have less than 0 NICs",
       [](ClusterSpec& spec) { spec.node.nics = -1; }},
      {"cluster 'small': needs at least 1 node per leaf",
       [](ClusterSpec& spec) { spec.fabric.nodes_per_leaf = 0; }},
      {"cluster 'small': can't have less than 0 spines",
       [](ClusterSpec& spec) { spec.fabric.spines = -1; }},
      {"cluster 'small': links between leaf and spine need a bandwidth above 0",
       [](ClusterSpec& spec) { spec.fabric.leaf_spine_bandwidth = {}; }},
      // 2 x (10^7 x (8 + 4 + 2) + 5 x 10^6 x 2)
      {"cluster 'small': has 300000000 links, more than 100000000 can be handled",
       [](ClusterSpec& spec) { spec.nodes = 10'000'000; }},
  };
  for (const auto& [message, spoil] : bad_specs) {
    SCOPED_TRACE(message);
    ClusterSpec spec = small_cluster(4);
    spoil(spec);
    try {
      const ClusterGraph graph(spec);
      ADD_FAILURE() << "was accepted";
    } catch (const ConfigError& error) {
      EXPECT_STREQ(error.what(), message);
    }
  }
}

TEST(ClusterGraph, UnknownPlacesAreBugs) {
  const ClusterGraph graph(small_cluster(2));
  EXPECT_THROW(graph.gpu(2, 0), InternalError);
  EXPECT_THROW(graph.gpu(0, 4), InternalError);
  EXPECT_THROW(graph.nic(0, -1), InternalError);
  EXPECT_THROW(graph.link(graph.link_count()), InternalError);
  EXPECT_THROW(graph.link_name(-1), InternalError);
  EXPECT_THROW(graph.route(0, 10000), InternalError);
}

TEST(ClusterGraph, SixteenThousandNodesAreNoTrouble) {
  const ClusterGraph graph(small_cluster(16384));
  EXPECT_EQ(graph.link_count(), 2 * (16384 * (8 + 4 + 2) + 8192 * 2));
  EXPECT_EQ(graph.route(graph.gpu(0, 0), graph.gpu(16383, 3)).size(), 8u);
}

}  // namespace
}  // namespace amsp
