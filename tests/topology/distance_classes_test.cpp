#include "topology/survey/distance_classes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "core/error.h"
#include "tests/topology/lab_cluster.h"

namespace amsp {
namespace {

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

/// Ordered pairs of GPUs of different nodes by switches between their NICs, one search a NIC.
std::map<int, std::int64_t> searched(const ClusterGraph& graph) {
  std::vector<std::vector<VertexId>> next(static_cast<std::size_t>(graph.vertex_count()));
  for (LinkId id = 0; id < graph.link_count(); ++id)
    next[graph.source(id)].push_back(graph.target(id));
  const auto is_passable = [&](VertexId v) { return !is_inside_node(graph.vertex(v).kind); };
  const auto from = [&](VertexId start) {
    std::vector<int> cables(next.size(), -1);
    std::vector<VertexId> queue{start};
    cables[start] = 0;
    for (std::size_t i = 0; i < queue.size(); ++i)
      for (const VertexId to : next[queue[i]]) {
        const bool is_nic = graph.vertex(to).kind == VertexKind::kNic;
        if (cables[to] >= 0 || (!is_passable(to) && !is_nic)) continue;
        cables[to] = cables[queue[i]] + 1;
        if (!is_nic) queue.push_back(to);
      }
    return cables;
  };
  std::map<int, std::int64_t> pairs;
  const int nodes = graph.spec().nodes, gpus = graph.spec().node.gpus;
  for (int a = 0; a < nodes * gpus; ++a) {
    const std::vector<int> cables = from(graph.nic(a / gpus, a % gpus));
    for (int b = 0; b < nodes * gpus; ++b)
      if (a / gpus != b / gpus) ++pairs[cables[graph.nic(b / gpus, b % gpus)] - 1];
  }
  return pairs;
}

std::map<int, std::int64_t> by_classes(const ClusterGraph& graph) {
  std::map<int, std::int64_t> pairs;
  for (const DistanceClass& distance : distance_classes(graph))
    if (distance.wire.value > 0) {
      EXPECT_EQ(pairs.count(distance.switches), 0U);
      pairs[distance.switches] = distance.pairs;
    }
  return pairs;
}

TEST(Distances, AreThoseOfASearchFromEveryNic) {
  for (const char* fabric : {kPlain, kThin, kCore, kRails})
    for (const int nodes : {4, 8, 12}) {
      const ClusterGraph graph(lab(nodes, fabric));
      EXPECT_EQ(by_classes(graph), searched(graph)) << fabric << " of " << nodes;
    }
}

/// Any cables: NICs on one or two switches or on each other, switches on switches.
TEST(Distances, AreThoseOfASearchInAnyFabric) {
  std::mt19937 random(11);
  int compared = 0;
  for (int round = 0; round < 400; ++round) {
    const int nodes = 2 + static_cast<int>(random() % 5), nics = 1 + static_cast<int>(random() % 2);
    const int switches = 1 + static_cast<int>(random() % 6);
    const auto name = [](const char* what, int i) { return what + std::to_string(i); };
    Json links = Json::array();
    const auto join = [&](const std::string& a, const std::string& b) {
      const Json link{{"between", {a, b}}, {"bandwidth", "25GBps"}};
      if (a != b && std::find(links.begin(), links.end(), link) == links.end())
        links.push_back(link);
    };
    for (int node = 0; node < nodes; ++node)
      for (int nic = 0; nic < nics; ++nic) {
        const std::string end = name("node", node) + name("/nic", nic);
        for (unsigned k = 0; k <= random() % 2; ++k)
          join(end, name("switch", static_cast<int>(random() % static_cast<unsigned>(switches))));
        if (random() % 12 == 0 && node > 0) join("node0/nic0", end);
      }
    for (int a = 1; a < switches; ++a)
      for (unsigned k = 0; k <= random() % 2; ++k)
        join(name("switch", static_cast<int>(random() % static_cast<unsigned>(a))),
             name("switch", a));
    Json json{{"preset", "dgx-a100"}, {"nodes", nodes}, {"fabric", {{"links", links}}}};
    json["node"]["nics"] = {{"count", nics}};
    try {
      const ClusterGraph graph(read_cluster(ObjectReader(json, "c.json#")));
      ASSERT_EQ(by_classes(graph), searched(graph)) << json.dump();
      ++compared;
    } catch (const ConfigError&) {  // not connected, or too many ports
    }
  }
  EXPECT_GT(compared, 100);
}

TEST(Distances, OfManyNodesTakeNoLongerThanTheGraph) {
  const ClusterGraph graph(lab(4096, R"({"nodes_per_leaf": 1, "spines": 2, "oversubscription": 1,
                "core": {"leaves_per_pod": 8, "switches": 2, "oversubscription": 4}})"));
  // each of 4 GPUs of 4,096 nodes: 7 other nodes in its pod, 4,088 behind the core
  EXPECT_EQ(by_classes(graph),
            (std::map<int, std::int64_t>{{3, 16384LL * 7 * 4}, {5, 16384LL * 4088 * 4}}));
}

}  // namespace
}  // namespace amsp
