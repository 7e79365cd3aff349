#include "topology/collective/collective_ring.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "core/error.h"
#include "tests/topology/a800_cluster.h"
#include "tests/topology/all_meshes.h"
#include "topology/collective/ring_walks.h"

namespace amsp {
namespace {

constexpr CollectiveKind kKinds[] = {CollectiveKind::kAllGather, CollectiveKind::kReduceScatter,
                                     CollectiveKind::kAllReduce, CollectiveKind::kBroadcast};

/// A cluster with one rank on every GPU.
struct World {
  explicit World(const ClusterSpec& spec)
      : graph(spec),
        placement(spec, Mesh{spec.node.gpus, spec.nodes}, 1),
        rings(graph, placement) {}

  int groups(const SubMesh& mesh) const { return placement.dp().size() / mesh.size(); }
  std::map<std::string, double> loads(const CollectiveCall& call, int group) const {
    std::map<std::string, double> by_name;
    for (const auto& [link, bytes] : rings.loads(call, group))
      by_name[graph.link_name(link)] = bytes;
    return by_name;
  }

  ClusterGraph graph;
  Placement placement;
  RingNetwork rings;
};

std::string nic_out(int node, int nic, int leaf = 0) {
  return "node" + std::to_string(node) + "/nic" + std::to_string(nic) + " -> leaf" +
         std::to_string(leaf);
}
std::string nic_in(int node, int nic, int leaf = 0) {
  return "leaf" + std::to_string(leaf) + " -> node" + std::to_string(node) + "/nic" +
         std::to_string(nic);
}
std::string port_out(int node, int gpu) {
  return "node" + std::to_string(node) + "/gpu" + std::to_string(gpu) + " -> node" +
         std::to_string(node) + "/nvswitch0";
}

TEST(RingLoads, HopShareIsTheBusFactor) {
  EXPECT_DOUBLE_EQ(hop_share(CollectiveKind::kAllGather, 8), 7.0 / 8);
  EXPECT_DOUBLE_EQ(hop_share(CollectiveKind::kReduceScatter, 2), 1.0 / 2);
  EXPECT_DOUBLE_EQ(hop_share(CollectiveKind::kAllReduce, 4), 6.0 / 4);
  EXPECT_DOUBLE_EQ(hop_share(CollectiveKind::kBroadcast, 64), 1);
  for (const auto kind : kKinds) EXPECT_EQ(hop_share(kind, 1), 0);
}

TEST(RingLoads, InsideANodeEveryMemberSendsToItsSuccessor) {
  const World world(a800_cluster(2));
  // group 1 of 4x1 is GPUs 4 to 7 of node 0; 3/4 of 400 bytes leave and reach each
  const auto loads = world.loads({CollectiveKind::kAllGather, sub_mesh({4, 1}), 400_B, {}}, 1);
  EXPECT_EQ(loads.size(), 8U);
  for (int gpu = 4; gpu < 8; ++gpu) EXPECT_DOUBLE_EQ(loads.at(port_out(0, gpu)), 300);
  EXPECT_DOUBLE_EQ(loads.at("node0/nvswitch0 -> node0/gpu4"), 300);
}

TEST(RingLoads, OneRankAloneSendsNothing) {
  const World world(a800_cluster(1));
  EXPECT_TRUE(world.loads({CollectiveKind::kAllReduce, sub_mesh({1, 1}), 1_GiB, {}}, 0).empty());
}

TEST(RingLoads, WholeNodesUseEveryNicAlike) {
  const World world(a800_cluster(2));
  // 2 * 15/16 * 1600 B over 4 rings: 750 B a NIC; each ring leaves from one GPU of its NIC and
  // enters at the other
  const auto loads = world.loads({CollectiveKind::kAllReduce, sub_mesh({8, 2}), 1600_B, {}}, 0);
  for (int node = 0; node < 2; ++node) {
    for (int nic = 0; nic < 4; ++nic) {
      EXPECT_DOUBLE_EQ(loads.at(nic_out(node, nic)), 750);
      EXPECT_DOUBLE_EQ(loads.at(nic_in(node, nic)), 750);
    }
  }
  EXPECT_DOUBLE_EQ(loads.at("node0/nic0 -> node0/gpu0"), 750);
  EXPECT_DOUBLE_EQ(loads.at("node0/gpu1 -> node0/nic0"), 750);
  EXPECT_FALSE(loads.contains("node0/gpu0 -> node0/nic0"));
  // all 4 rings pass GPU 0, and GPU 1 but for ring 0, which leaves there
  EXPECT_DOUBLE_EQ(loads.at(port_out(0, 0)), 3000);
  EXPECT_DOUBLE_EQ(loads.at(port_out(0, 1)), 2250);
}

/// How many groups send over each NIC of node 0.
std::vector<int> groups_per_nic(const World& world, const SubMesh& mesh) {
  std::vector<int> users(4);
  for (int group = 0; group < world.groups(mesh); ++group) {
    const auto loads = world.loads({CollectiveKind::kAllReduce, mesh, 1_MiB, {}}, group);
    for (int nic = 0; nic < 4; ++nic)
      users[static_cast<std::size_t>(nic)] += loads.contains(nic_out(0, nic)) ? 1 : 0;
  }
  return users;
}

TEST(RingLoads, SiblingGroupsShareTheNics) {
  const World world(a800_cluster(8));
  // P on 4x1: 4 groups of 2x8 with GPUs i and i+4, so 2 NICs each
  EXPECT_EQ(groups_per_nic(world, quotient({8, 8}, {4, 1})), (std::vector{2, 2, 2, 2}));
  EXPECT_EQ(world.rings.nics(quotient({8, 8}, {4, 1})), 2);
  // P on 8x1: 8 groups of 1x8, one NIC each
  EXPECT_EQ(groups_per_nic(world, quotient({8, 8}, {8, 1})), (std::vector{2, 2, 2, 2}));
  EXPECT_EQ(world.rings.nics(quotient({8, 8}, {8, 1})), 1);
  EXPECT_EQ(groups_per_nic(world, sub_mesh({8, 8})), (std::vector{1, 1, 1, 1}));
  EXPECT_EQ(world.rings.nics(sub_mesh({8, 8})), 4);
  EXPECT_EQ(world.rings.nics(sub_mesh({8, 1})), 0);
}

TEST(RingLoads, StridedGroupSendsTheSameThroughEachOfItsNics) {
  const World world(a800_cluster(4));
  // GPUs 1 and 5 in 4 nodes: 2 * 7/8 * 800 B over 2 rings
  const auto loads =
      world.loads({CollectiveKind::kAllReduce, quotient({8, 4}, {4, 1}), 800_B, {}}, 1);
  for (int node = 0; node < 4; ++node) {
    for (const int nic : {0, 2}) {
      EXPECT_DOUBLE_EQ(loads.at(nic_out(node, nic)), 700);
      EXPECT_DOUBLE_EQ(loads.at(nic_in(node, nic)), 700);
    }
    EXPECT_FALSE(loads.contains(nic_out(node, 1)));
  }
}

TEST(RingWalks, EnterAndLeaveSoThatNicsStayBalanced) {
  const NodeSpec node = a800_cluster(1).node;
  const auto order = [&](const std::vector<int>& gpus) {
    std::vector<std::vector<int>> orders;
    for (const RingWalk& walk : ring_walks(node, gpus)) orders.push_back(walk.order);
    return orders;
  };
  using Orders = std::vector<std::vector<int>>;
  // one GPU: in and out at the same place
  EXPECT_EQ(order({3}), (Orders{{0}}));
  // both on NIC 0
  EXPECT_EQ(order({0, 1}), (Orders{{0, 1}}));
  // on NICs 0 and 2: in by one, out by the other, and the other way round
  EXPECT_EQ(order({0, 4}), (Orders{{0, 1}, {1, 0}}));
  // one on each NIC: each ring ends where the previous one begins
  EXPECT_EQ(order({0, 2, 4, 6}), (Orders{{0, 1, 2, 3}, {1, 2, 3, 0}, {2, 3, 0, 1}, {3, 0, 1, 2}}));
  // NIC 0 twice, NIC 1 once: the second ring leaves over GPU 2's port
  EXPECT_EQ(order({0, 1, 2}), (Orders{{0, 2, 1}, {2, 0, 1}}));
  EXPECT_FALSE(ring_walks(node, {0, 1, 2})[0].over_entry);
  EXPECT_TRUE(ring_walks(node, {0, 1, 2})[1].over_entry);
  EXPECT_EQ(nics_used(node, sub_mesh({3, 1}), 0), (std::vector{0, 1}));
  EXPECT_EQ(nics_used(node, quotient({8, 1}, {4, 1}), 3), (std::vector{1, 3}));
}

TEST(RingLoads, EveryVertexPassesOnWhatItGets) {
  ClusterSpec odd = a800_cluster(6);  // 6 GPUs, so that some NICs have one GPU and some two
  odd.node.gpus = 6;
  odd.node.nic_of_gpu = {0, 0, 1, 2, 2, 3};
  for (const ClusterSpec& spec : {a800_cluster(8), odd}) {
    const World world(spec);
    for (const SubMesh& mesh : all_meshes(world.placement.dp())) {
      for (const auto kind : {CollectiveKind::kAllGather, CollectiveKind::kAllReduce}) {
        const CollectiveCall call{kind, mesh, 64_MiB, {}};
        const double hop = hop_share(kind, mesh.size()) * 64 * 1048576;
        for (const int group : {0, world.groups(mesh) - 1}) {
          std::vector<double> net(static_cast<std::size_t>(world.graph.vertex_count()));
          double sent_by_nics = 0;
          std::map<LinkId, double> loads;
          for (const auto& [link, bytes] : world.rings.loads(call, group)) loads[link] = bytes;
          for (LinkId link = 0; link < world.graph.link_count(); ++link) {
            const auto found = loads.find(link);
            if (found == loads.end()) continue;
            const VertexId from = world.graph.source(link);
            net[world.graph.target(link)] += found->second;
            net[from] -= found->second;
            if (world.graph.link(link).kind == LinkKind::kNic &&
                world.graph.vertex(from).kind == VertexKind::kNic)
              sent_by_nics += found->second;
          }
          for (const double rest : net) EXPECT_NEAR(rest, 0, 1) << to_string(mesh);
          // the rings together carry the message once from node to node
          EXPECT_NEAR(sent_by_nics, mesh.shape.inter == 1 ? 0 : mesh.shape.inter * hop, 1)
              << to_string(mesh);
        }
      }
    }
  }
}

TEST(RingLoads, NicsOfAGroupCarryTheSameInBothDirections) {
  const World world(a800_cluster(8));
  for (const SubMesh& mesh : all_meshes({8, 8})) {
    if (mesh.shape.inter == 1) continue;
    for (int group = 0; group < world.groups(mesh); ++group) {
      const auto loads = world.loads({CollectiveKind::kAllGather, mesh, 64_MiB, {}}, group);
      const int first = process_groups(mesh, {8, 8})[static_cast<std::size_t>(group)][0] % 8;
      const auto nics = nics_used(world.graph.spec().node, mesh, first);
      const double each = hop_share(CollectiveKind::kAllGather, mesh.size()) * 64 * 1048576 /
                          static_cast<double>(nics.size());
      const int node = process_groups(mesh, {8, 8})[static_cast<std::size_t>(group)][0] / 8;
      for (const int nic : nics) {
        EXPECT_NEAR(loads.at(nic_out(node, nic, node / 4)), each, 1e-3) << to_string(mesh);
        EXPECT_NEAR(loads.at(nic_in(node, nic, node / 4)), each, 1e-3) << to_string(mesh);
      }
    }
  }
}

TEST(RingLoads, BroadcastStopsBeforeItsRoot) {
  const World world(a800_cluster(1));
  CollectiveCall call{CollectiveKind::kBroadcast, sub_mesh({4, 1}), 100_B, {}};
  auto loads = world.loads(call, 0);  // from GPU 0 to 1, 2, 3
  for (const int gpu : {0, 1, 2}) EXPECT_DOUBLE_EQ(loads.at(port_out(0, gpu)), 100);
  EXPECT_FALSE(loads.contains(port_out(0, 3)));

  call.bytes_by_root = {0_B, 70_B, 30_B, 0_B};  // from 1 to 2, 3, 0 and from 2 to 3, 0, 1
  loads = world.loads(call, 0);
  EXPECT_DOUBLE_EQ(loads.at(port_out(0, 0)), 30);
  EXPECT_DOUBLE_EQ(loads.at(port_out(0, 1)), 70);
  EXPECT_DOUBLE_EQ(loads.at(port_out(0, 2)), 100);
  EXPECT_DOUBLE_EQ(loads.at(port_out(0, 3)), 100);
}

TEST(RingLoads, RotatingRootsLoadEachNicWithAllButOneNodesMessages) {
  const World world(a800_cluster(4));
  // 1x4 of GPU 0: each of 4 nodes is root of 250 B, so 750 B pass each NIC
  const CollectiveCall call{
      CollectiveKind::kBroadcast, quotient({8, 4}, {8, 1}), 1000_B, {250_B, 250_B, 250_B, 250_B}};
  const auto loads = world.loads(call, 0);
  for (int node = 0; node < 4; ++node) {
    EXPECT_DOUBLE_EQ(loads.at(nic_out(node, 0)), 750);
    EXPECT_DOUBLE_EQ(loads.at(nic_in(node, 0)), 750);
  }
}

TEST(RingLoads, GroupCallMustAddUp) {
  const World world(a800_cluster(1));
  CollectiveCall call{CollectiveKind::kBroadcast, sub_mesh({2, 1}), 100_B, {50_B, 49_B}};
  EXPECT_THROW(world.loads(call, 0), InternalError);
  call.bytes_by_root = {100_B};
  EXPECT_THROW(world.loads(call, 0), InternalError);
  EXPECT_THROW(world.loads({CollectiveKind::kAllGather, sub_mesh({2, 1}), 1_B, {}}, 4),
               InternalError);
}

TEST(RingLoads, DirectWiringSharesTrafficOverAllPairs) {
  ClusterSpec spec = a800_cluster(1);
  spec.node.nvlink = NvlinkKind::kDirect;
  const World world(spec);
  // 8 hops of 7/8 * 800 B over 8*7 links
  const auto loads = world.loads({CollectiveKind::kAllGather, sub_mesh({8, 1}), 800_B, {}}, 0);
  EXPECT_EQ(loads.size(), 56U);
  for (const auto& [name, bytes] : loads) EXPECT_NEAR(bytes, 100, 1e-9) << name;
}

TEST(RingLoads, LeavesExchangeTheTrafficOfTheirLastNodes) {
  const World world(a800_cluster(8));
  // 8x8 over 2 leaves of 4 nodes: 4 rings of 1/4 cross each way, spread over 16 spines
  const auto loads = world.loads({CollectiveKind::kBroadcast, sub_mesh({8, 8}), 1600_B, {}}, 0);
  EXPECT_DOUBLE_EQ(loads.at("leaf0 -> spine7"), 100);
  EXPECT_DOUBLE_EQ(loads.at("spine7 -> leaf1"), 100);
  // GPU 0 is the root; only ring 0 enters node 0 there, so its hop back to node 0 is left out
  EXPECT_DOUBLE_EQ(loads.at("leaf1 -> spine7"), 75);
}

TEST(RingLoads, AreOrderedByLink) {
  const World world(a800_cluster(2));
  const auto loads =
      world.rings.loads({CollectiveKind::kAllReduce, sub_mesh({8, 2}), 1_MiB, {}}, 0);
  EXPECT_GT(loads.size(), 1U);
  for (std::size_t i = 1; i < loads.size(); ++i) EXPECT_LT(loads[i - 1].link, loads[i].link);
}

}  // namespace
}  // namespace amsp
