// Fabrics and nodes that can't be, with the whole message: its wording is part of the interface.

#include <gtest/gtest.h>

#include "core/error.h"
#include "core/json/json.h"
#include "topology/graph/cluster_graph.h"
#include "topology/read/cluster_reader.h"

namespace amsp {
namespace {

/// 4 nodes of 4 GPUs with a NIC each.
constexpr const char* kLab = R"({"name": "lab", "nodes": 4, "gpu": "A800-SXM4-80GB",
  "profile": "none", "node": {
    "gpus": 4, "nvlink": {"kind": "switch", "switches": 1, "bandwidth": "200GBps"},
    "pcie": {"bandwidth": "32GBps"}, "nics": {"count": 4, "bandwidth": "200Gbps"},
    "comm_sms": {"intra": 8, "inter": 8}},
  "fabric": {"nodes_per_leaf": 2, "spines": 2, "leaf_spine_bandwidth": "400Gbps"}})";
/// The same node by links.
constexpr const char* kLinks = R"([{"between": ["gpu[0-3]", "nvswitch0"], "bandwidth": "200GBps"},
  {"between": ["gpu[0-3]", "pcie0"], "bandwidth": "32GBps"},
  {"between": ["pcie0", "nic[0-3]"], "bandwidth": "32GBps"}])";

std::string message_of_cluster(const Json& json) {
  try {
    const ClusterGraph graph(read_cluster(ObjectReader(json, "c.json#")));
    return "accepted";
  } catch (const ConfigError& error) {
    return error.what();
  }
}

struct BadFabric {
  const char* patch;  // RFC 7396
  const char* message;
};

TEST(BadFabric, IsRefusedWithItsMessage) {
  const BadFabric kBad[] = {
      {R"({"node": {"nics": {"bandwidth": "400GBps"}}})",
       "c.json#/node/nics/bandwidth: \"400GBps\" is too much for one NIC (400 GB/s or more); did "
       "you mean \"400Gbps\"?"},
      {R"({"fabric": {"rails": 3}})",
       "c.json#/fabric/rails: 3 rails don't share out the 4 NICs of a node"},
      {R"({"fabric": {"rails": 8}})",
       "c.json#/fabric/rails: must be a whole number from 1 to 4, found 8"},
      {R"({"fabric": {"rails": 4, "spines": 0, "nodes_per_leaf": 4}})",
       "cluster is not connected: node0/gpu0 cannot reach node1/gpu1 (no way from node0/nic0 to "
       "node1/nic1)"},
      {R"({"fabric": {"rails": 4, "spines": 0}})",
       "cluster is not connected: node0/gpu0 cannot reach node2/gpu0 (two leaves and no spine)"},
      {R"({"fabric": {"nodes_per_leaf": [2, 1]}})",
       "c.json#/fabric/nodes_per_leaf: lists leaves for 3 nodes, the cluster has 4"},
      {R"({"fabric": {"nodes_per_leaf": [4, 0]}})",
       "c.json#/fabric/nodes_per_leaf: entry 1 must be a whole number from 1 to 1048576, found 0"},
      {R"({"fabric": {"oversubscription": 2}})",
       "c.json#/fabric/oversubscription: says the same as 'leaf_spine_bandwidth'; give one of "
       "them"},
      {R"({"fabric": {"oversubscription": 0, "leaf_spine_bandwidth": null}})",
       "c.json#/fabric/oversubscription: must be at least 0.01"},
      {R"({"fabric": {"oversubscription": 2, "leaf_spine_bandwidth": null, "spines": 0,
                      "nodes_per_leaf": 4}})",
       "c.json#/fabric/oversubscription: has no effect without spines"},
      {R"({"fabric": {"transport": "ethernet"}})",
       "c.json#/fabric/transport: must be one of infiniband, roce; found \"ethernet\""},
      {R"({"fabric": {"core": {"leaves_per_pod": 1, "switches": 3,
                               "spine_core_bandwidth": "400Gbps"}}})",
       "c.json#/fabric/core/switches: 3 core switches don't share out among the 2 spines of a pod; "
       "give a multiple of 2"},
      {R"({"fabric": {"rails": 4, "core": {"leaves_per_pod": 2, "switches": 2,
                                           "spine_core_bandwidth": "400Gbps"}}})",
       "c.json#/fabric/core/leaves_per_pod: 2 leaves would part the 4 leaves of one node's rails; "
       "give a multiple of 4"},
      {R"({"fabric": {"spines": 0, "nodes_per_leaf": 4, "core": {"leaves_per_pod": 1}}})",
       "c.json#/fabric/core: connects spines, of which the fabric has none"},
      {R"({"fabric": {"core": {"leaves_per_pod": 1, "switches": 2}}})",
       "c.json#/fabric/core/spine_core_bandwidth: is missing"},
      {R"({"fabric": {"links": []}})",
       "c.json#/fabric/nodes_per_leaf: has no effect beside 'links'"},
  };
  for (const auto& [patch, message] : kBad) {
    Json json = Json::parse(kLab);
    json.merge_patch(Json::parse(patch));
    EXPECT_EQ(message_of_cluster(json), message);
  }
}

TEST(BadFabricByLinks, IsRefusedWithItsMessage) {
  const BadFabric kBad[] = {
      {R"([{"between": ["node[0-3]/nic[0-3]", "leaf0"]},
           {"between": ["leaf1", "leaf2"], "bandwidth": "400Gbps"}])",
       "accepted"},  // switches without a node are idle
      {R"([{"between": ["node[0-3]/nic[0-2]", "leaf0"]}])",
       "c.json#/fabric/links: leave node0/nic3 without a link"},
      {R"([{"between": ["node[0-1]/nic[0-3]", "leaf0"]},
           {"between": ["node[2-3]/nic[0-3]", "leaf1"]}])",
       "cluster is not connected: node0/gpu0 cannot reach node2/gpu0 (no way from node0/nic0 to "
       "node2/nic0)"},
      {R"([{"between": ["node[0-4]/nic[0-3]", "leaf0"]}])",
       "c.json#/fabric/links: name node4/nic0, but the cluster has 4 nodes of 4 NICs"},
      {R"([{"between": ["node[0-3]/gpu[0-3]", "leaf0"], "bandwidth": "25GBps"}])",
       "c.json#/fabric/links: join NICs (such as node0/nic0) and switches, found node0/gpu0"},
      {R"([{"between": ["nic[0-3]", "leaf0"]}])",
       "c.json#/fabric/links: join NICs (such as node0/nic0) and switches, found nic0"},
      {R"([{"between": ["node[0-3]/nic[0-3]", "hub0"]}])",
       "c.json#/fabric/links/0/between: must be names such as \"node[0-3]/nic0\", \"gpu[0-7]\", "
       "\"leaf[0-1]\", \"spine0\", \"core0\" or \"switch0\", found \"hub0\""},
      {R"([{"between": ["leaf0"]}])",
       "c.json#/fabric/links/0/between: must be a list of two names, found [\"leaf0\"]"},
      {R"([{"between": ["leaf0", "leaf0"], "bandwidth": "400Gbps"}])",
       "c.json#/fabric/links/0/between: joins leaf0 to itself"},
      {R"([{"between": ["leaf0", "spine0"], "bandwidth": "400Gbps"},
           {"between": ["spine[0-1]", "leaf[0-1]"], "bandwidth": "400Gbps"}])",
       "c.json#/fabric/links/1/between: joins spine0 and leaf0 a second time; give one link with "
       "their bandwidths together"},
      {R"([{"between": ["leaf0", "spine0"]}])", "c.json#/fabric/links/0/bandwidth: is missing"},
      {R"([{"between": ["node0/nic0", "leaf0"], "bandwidth": "400Gbps"}])",
       "c.json#/fabric/links/0/bandwidth: \"400Gbps\" is more than the 25.0 GB/s of the NIC"},
      {R"([{"between": ["leaf0", "spine0"], "bandwidth": "400Gbps", "capacity": "60GBps"}])",
       "c.json#/fabric/links/0/capacity: \"60GBps\" is more than the bandwidth of \"400Gbps\""},
      {R"([{"between": ["leaf0", "spine0"], "width": 2}])",
       "c.json#/fabric/links/0/bandwidth: is missing"},
      {R"("all")", "c.json#/fabric/links: must be a list, found \"all\""},
  };
  for (const auto& [links, message] : kBad) {
    Json json = Json::parse(kLab);
    json["fabric"] = Json{{"links", Json::parse(links)}};
    EXPECT_EQ(message_of_cluster(json), message);
  }
}

struct BadNode {
  const char* links;
  const char* message;
};

TEST(BadNodeByLinks, IsRefusedWithItsMessage) {
  const BadNode kBad[] = {
      {kLinks, "accepted"},
      {R"([{"between": ["gpu[0-3]", "pcie0"], "bandwidth": "32GBps"}])",
       "c.json#/node/links: don't connect gpu0 and nic0"},
      {R"([{"between": ["gpu[0-1]", "pcie0"], "bandwidth": "32GBps"},
           {"between": ["gpu[2-3]", "pcie1"], "bandwidth": "32GBps"}])",
       "c.json#/node/links: don't connect gpu0 and gpu2"},
      {R"([{"between": ["gpu[0-4]", "pcie0"], "bandwidth": "32GBps"}])",
       "c.json#/node/links: names gpu4 of a node with 4 GPUs"},
      {R"([{"between": ["pcie0", "nic4"], "bandwidth": "32GBps"}])",
       "c.json#/node/links: names nic4 of a node with 4 NICs"},
      {R"([{"between": ["node0/gpu0", "pcie0"], "bandwidth": "32GBps"}])",
       "c.json#/node/links: must name parts of a node, such as gpu0, found node0/gpu0"},
      {R"([{"between": ["gpu0", "leaf0"], "bandwidth": "32GBps"}])",
       "c.json#/node/links: must name parts of a node, such as gpu0, found leaf0"},
      {R"([{"between": ["nvswitch0", "nic0"], "bandwidth": "32GBps"}])",
       "c.json#/node/links: can't join nvswitch0 to nic0"},
      {R"([{"between": ["nic0", "nic1"], "bandwidth": "32GBps"}])",
       "c.json#/node/links: can't join nic0 to nic1"},
      {R"([{"between": ["gpu[0-3]", "pcie0"], "bandwidth": "32GBps"},
           {"between": ["pcie0", "nic[0-3]"], "bandwidth": "16GBps"}])",
       "c.json#/node/links: give nic0 16.0 GB/s, less than the NIC's 25.0 GB/s"},
      {R"([{"between": ["gpu[0-3]", "pcie0"], "bandwidth": "32GBps"},
           {"between": ["pcie0", "nic[0-3]"], "bandwidth": "32GBps"},
           {"between": ["gpu[0-2]", "nvswitch0"], "bandwidth": "200GBps"}])",
       "c.json#/node/links: give gpu3 no NVLink, but others"},
      {R"([{"between": ["gpu[0-3]", "pcie0"], "bandwidth": "32GBps"},
           {"between": ["pcie0", "nic[0-3]"], "bandwidth": "32GBps"},
           {"between": ["gpu[0-3]", "nvswitch0"], "bandwidth": "200GBps"},
           {"between": ["gpu0", "gpu1"], "bandwidth": "50GBps"}])",
       "c.json#/node/links: join gpu0 both to NVSwitches and to gpu1"},
      {R"([{"between": ["gpu[0-3]", "pcie0"], "bandwidth": "32GBps"},
           {"between": ["pcie0", "nic[0-3]"], "bandwidth": "32GBps"},
           {"between": ["gpu0", "gpu[1-2]"], "bandwidth": "50GBps"}])",
       "c.json#/node/links: join some pairs of GPUs by NVLink and others not: such a mesh is not "
       "modelled, only NVSwitches, a link for every pair, and bridges between two GPUs"},
      {R"([{"between": ["gpu[0-3]", "pcie0"], "bandwidth": "3TBps"}])",
       "c.json#/node/links/0/bandwidth: \"3TBps\" is too much for PCIe (512 GB/s or more); did you "
       "mean \"3GBps\"?"},
  };
  for (const auto& [links, message] : kBad) {
    Json json = Json::parse(kLab);
    json["node"].erase("nvlink");
    json["node"].erase("pcie");
    json["node"]["links"] = Json::parse(links);
    EXPECT_EQ(message_of_cluster(json), message);
  }
  Json both = Json::parse(kLab);
  both["node"]["links"] = Json::parse(kLinks);
  EXPECT_EQ(message_of_cluster(both), "c.json#/node/nvlink: has no effect beside 'links'");
}

}  // namespace
}  // namespace amsp
