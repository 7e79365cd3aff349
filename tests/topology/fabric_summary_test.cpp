#include "topology/fabric_summary.h"

#include <gtest/gtest.h>

#include "core/json.h"
#include "topology/bisection.h"
#include "topology/cluster_reader.h"

namespace amsp {
namespace {

/// 4 GPUs a node on an NVSwitch, one NIC each. GB/s: NVLink 200, PCIe 32, NIC 25 (24 at best).
ClusterSpec lab(int nodes, const char* fabric) {
  Json json = Json::parse(R"({"name": "lab", "gpu": "A800-SXM4-80GB", "profile": "none", "node": {
    "gpus": 4, "nvlink": {"kind": "switch", "switches": 1, "bandwidth": "200GBps"},
    "pcie": {"bandwidth": "32GBps"},
    "nics": {"count": 4, "bandwidth": "25GBps", "capacity": "24GBps"},
    "comm_sms": {"intra": 8, "inter": 8}}})");
  json["nodes"] = nodes;
  json["fabric"] = Json::parse(fabric);
  return read_cluster(ObjectReader(json, "c.json#"));
}

constexpr const char* kPlain = R"({"nodes_per_leaf": 2, "spines": 2, "oversubscription": 1})";
constexpr const char* kThin = R"({"nodes_per_leaf": 2, "spines": 2, "oversubscription": 2})";
constexpr const char* kCore = R"({"nodes_per_leaf": 1, "spines": 2, "oversubscription": 1,
    "core": {"leaves_per_pod": 2, "switches": 2, "oversubscription": 4}})";
constexpr const char* kRails = R"({"nodes_per_leaf": 4, "rails": 4, "spines": 2,
                                   "oversubscription": 1})";

TEST(Bisection, IsWhatTheCutCarries) {
  // halves of 2 nodes: 8 NICs of 25 GB/s into 2 x 100 GB/s of the leaf
  const ClusterGraph plain(lab(4, kPlain));
  const auto cuts = bisections(plain);
  ASSERT_EQ(cuts.size(), 2U);
  EXPECT_EQ(cuts[0].halves, "nodes 0-1 | 2-3");
  EXPECT_EQ(cuts[0].gpus, 8);
  EXPECT_EQ(cuts[0].bandwidth, 200_GBps);
  EXPECT_EQ(cuts[0].capacity, 192_GBps);  // 8 NICs at their best
  EXPECT_DOUBLE_EQ(cuts[0].of_full, 1);
  // 2:1 halves what crosses leaves, and nothing else: even and odd nodes meet on their leaf
  const ClusterGraph thin(lab(4, kThin));
  const auto halved = bisections(thin);
  EXPECT_EQ(halved[0].bandwidth, 100_GBps);
  EXPECT_DOUBLE_EQ(halved[0].of_full, 0.5);
  EXPECT_EQ(halved[1].halves, "nodes even | odd");
  EXPECT_DOUBLE_EQ(halved[1].of_full, 1);
}

TEST(Bisection, GoesThroughTheCore) {
  // pods of 2 nodes: 200 GB/s up to the spines, a quarter of it to the cores
  EXPECT_EQ(bisections(ClusterGraph(lab(4, kCore)))[0].bandwidth, 50_GBps);
}

TEST(Bisection, OfOneNodeIsItsNvlink) {
  const ClusterGraph graph(lab(1, kPlain));
  const auto cuts = bisections(graph);
  EXPECT_EQ(cuts[0].halves, "GPUs 0-1 | 2-3");
  EXPECT_EQ(cuts[0].bandwidth, 400_GBps);
  EXPECT_DOUBLE_EQ(cuts[0].of_full, 1);
}

TEST(Switches, PortsAndOversubscription) {
  const ClusterGraph thin(lab(4, kThin));
  const auto sorts = switch_sorts(thin);
  ASSERT_EQ(sorts.size(), 2U);
  EXPECT_EQ(sorts[0].kind, VertexKind::kLeaf);
  EXPECT_EQ(sorts[0].count, 2);
  EXPECT_EQ(sorts[0].cables_down, 8);
  EXPECT_EQ(sorts[0].cables_up, 2);
  EXPECT_EQ(sorts[0].down, 200_GBps);
  EXPECT_EQ(sorts[0].up, 100_GBps);
  EXPECT_DOUBLE_EQ(sorts[0].ports, 12);  // 8 down, 4 up
  EXPECT_DOUBLE_EQ(sorts[0].oversubscription(), 2);
  EXPECT_EQ(sorts[1].kind, VertexKind::kSpine);
  EXPECT_EQ(sorts[1].level, 2);
  EXPECT_EQ(sorts[1].cables_up, 0);

  const auto core = switch_sorts(ClusterGraph(lab(4, kCore)));
  ASSERT_EQ(core.size(), 3U);
  EXPECT_DOUBLE_EQ(core[1].oversubscription(), 4);
  EXPECT_EQ(core[2].kind, VertexKind::kCore);

  // unequal leaves are two sorts
  const auto unequal = switch_sorts(
      ClusterGraph(lab(3, R"({"nodes_per_leaf": [2, 1], "spines": 1, "oversubscription": 1})")));
  ASSERT_EQ(unequal.size(), 3U);
  EXPECT_DOUBLE_EQ(unequal[0].oversubscription() * unequal[1].oversubscription(), 0.5);
}

TEST(Cables, AreCountedByKind) {
  const auto sorts = cable_sorts(ClusterGraph(lab(4, kPlain)));
  ASSERT_EQ(sorts.size(), 4U);
  EXPECT_EQ(sorts[0].count, 16);  // GPU - NVSwitch
  EXPECT_EQ(sorts[1].count, 16);  // GPU - NIC
  EXPECT_EQ(sorts[2].count, 16);  // NIC - leaf
  EXPECT_EQ(sorts[2].capacity, 24_GBps);
  EXPECT_EQ(sorts[3].count, 4);  // leaf - spine
  EXPECT_EQ(sorts[3].kind, LinkKind::kFabric);
}

std::vector<std::int64_t> pairs(const ClusterSpec& spec) {
  std::vector<std::int64_t> counts;
  for (const DistanceClass& distance : distance_classes(ClusterGraph(spec)))
    counts.push_back(distance.pairs);
  return counts;
}

TEST(Distances, CountPairs) {
  // each of 16 GPUs has 3 others in its node, 4 under its leaf, 8 behind the spines
  EXPECT_EQ(pairs(lab(4, kPlain)), (std::vector<std::int64_t>{48, 64, 128}));
  // 3 of its rail on its leaf, 9 of other rails on other nodes
  EXPECT_EQ(pairs(lab(4, kRails)), (std::vector<std::int64_t>{48, 48, 144}));
  // 4 in the pod's other leaf, 8 over the core
  EXPECT_EQ(pairs(lab(4, kCore)), (std::vector<std::int64_t>{48, 64, 128}));
  EXPECT_EQ(pairs(lab(1, kPlain)), (std::vector<std::int64_t>{12}));
}

TEST(Distances, SayHowFarAndHowFast) {
  const ClusterGraph graph(lab(4, kCore));
  const auto classes = distance_classes(graph);
  ASSERT_EQ(classes.size(), 3U);
  EXPECT_EQ(classes[0].name, "same node, NVSwitch");
  EXPECT_EQ(classes[0].rate, 200_GBps);
  EXPECT_EQ(classes[1].name, "other node, 3 switches");
  EXPECT_EQ(classes[1].rate, 24_GBps);  // the NIC
  EXPECT_EQ(classes[2].name, "other node, 5 switches");
  EXPECT_DOUBLE_EQ(classes[2].wire.value, 2.5e-6 + 4 * 130e-9);
  EXPECT_EQ(classes[2].from, "node0/gpu0");
  EXPECT_EQ(classes[2].to, "node2/gpu0");
  EXPECT_EQ(classes[2].way,
            (std::vector<std::string>{"node0/gpu0", "node0/nic0", "leaf0", "spine0", "core0",
                                      "spine2", "leaf2", "node2/nic0", "node2/gpu0"}));
}

TEST(Distances, OfAPcieBoxTellCpusApart) {
  const Json json{{"preset", "l40s-pcie"}, {"nodes", 2}};
  const ClusterGraph graph(read_cluster(ObjectReader(json, "c.json#")));
  const auto classes = distance_classes(graph);
  ASSERT_EQ(classes.size(), 4U);
  EXPECT_EQ(classes[0].name, "same node, PCIe, 2 links");
  EXPECT_EQ(classes[0].pairs, 2 * 8 * 1);
  EXPECT_EQ(classes[1].name, "same node, PCIe, 4 links");
  EXPECT_EQ(classes[1].pairs, 2 * 8 * 2);
  EXPECT_EQ(classes[2].name, "same node, PCIe, 5 links over both CPUs");
  EXPECT_EQ(classes[2].pairs, 2 * 8 * 4);
  EXPECT_EQ(classes[2].rate, 22_GBps);
  EXPECT_EQ(classes[3].pairs, 2 * 8 * 8);
}

TEST(Distances, OverACableWithoutASwitch) {
  Json json = Json::parse(R"({"preset": "dgx-a100", "nodes": 2, "fabric": {"links": []}})");
  for (int nic = 0; nic < 8; ++nic)
    json["fabric"]["links"].push_back(
        {{"between", {"node0/nic" + std::to_string(nic), "node1/nic" + std::to_string(nic)}}});
  try {
    const ClusterGraph graph(read_cluster(ObjectReader(json, "c.json#")));
    ADD_FAILURE() << "NICs of other rails can't reach each other";
  } catch (const std::exception& error) {
    EXPECT_STREQ(error.what(),
                 "cluster is not connected: node0/gpu0 cannot reach node1/gpu1 (no way from "
                 "node0/nic0 to node1/nic1)");
  }
  json["node"]["nics"] = {{"count", 1}};
  json["fabric"]["links"] = Json::array({{{"between", {"node0/nic0", "node1/nic0"}}}});
  const auto classes = distance_classes(ClusterGraph(read_cluster(ObjectReader(json, "c.json#"))));
  ASSERT_EQ(classes.size(), 2U);
  EXPECT_EQ(classes[1].name, "other node, cable");
  EXPECT_EQ(classes[1].switches, 0);
  EXPECT_EQ(classes[1].pairs, 128);
}

}  // namespace
}  // namespace amsp
