#include "topology/read/nccl_topology.h"

#include <gtest/gtest.h>

#include "core/error.h"
#include "core/json/json.h"
#include "topology/graph/cluster_graph.h"
#include "topology/read/cluster_reader.h"

namespace amsp {
namespace {

std::string data(const std::string& name) {
  return read_file(AMSP_SOURCE_DIR "/tests/topology/data/" + name);
}

/// A cluster of such nodes on one switch.
ClusterSpec cluster(NodeSpec node, int nodes) {
  ClusterSpec spec;
  spec.name = "dumped";
  spec.nodes = nodes;
  spec.node = std::move(node);
  spec.fabric.nodes_per_leaf = nodes;
  return spec;
}

std::vector<std::string> route(const ClusterGraph& graph, VertexId from, VertexId to) {
  std::vector<std::string> names;
  for (const RouteShare& share : graph.route(from, to))
    names.push_back(graph.link_name(share.link));
  return names;
}

TEST(NcclTopology, OfAnNvswitchBoard) {
  const NodeSpec node = read_nccl_topology(data("hgx.xml"), "hgx.xml");
  EXPECT_EQ(node.gpus, 4);
  EXPECT_EQ(node.nvlink, NvlinkKind::kSwitch);
  EXPECT_EQ(node.nvlink_bandwidth, 450_GBps);                 // 18 x 25
  EXPECT_DOUBLE_EQ(node.nvlink_capacity.value, 18 * 20.6e9);  // as NCCL counts
  EXPECT_EQ(node.nics, 4);                                    // without the slow eth0
  EXPECT_EQ(node.nic_bandwidth, 50_GBps);
  EXPECT_EQ(node.nic_capacity, 48_GBps);  // all that NCCL sees in 16 lanes of PCIe 5.0
  const ClusterGraph graph(cluster(node, 2));
  // GPUs are sorted by dev: 3 stands before 2 in the file. NICs are numbered by their bridges
  EXPECT_EQ(node.nic_of_gpu, (std::vector<int>{0, 1, 3, 2}));
  EXPECT_EQ(
      route(graph, graph.gpu(0, 0), graph.gpu(0, 3)),
      (std::vector<std::string>{"node0/gpu0 -> node0/nvswitch0", "node0/nvswitch0 -> node0/gpu3"}));
  EXPECT_EQ(route(graph, graph.gpu(0, 0), graph.nic(0, 0)),
            (std::vector<std::string>{"node0/gpu0 -> node0/pcie0", "node0/pcie0 -> node0/nic0"}));
  const auto& slot = graph.link(graph.route(graph.gpu(0, 0), graph.nic(0, 0))[0].link);
  EXPECT_EQ(slot.kind, LinkKind::kPcie);
  EXPECT_NEAR(slot.bandwidth.value, 63e9, 0.1e9);  // 32 GT/s x 16 lanes, 128 of 130 bits
  EXPECT_EQ(slot.capacity, 48_GBps);
}

TEST(NcclTopology, OfABoxWithoutNvswitch) {
  const NodeSpec node = read_nccl_topology(data("pcie_box.xml"), "box.xml");
  EXPECT_EQ(node.nvlink, NvlinkKind::kNone);  // bridges join pairs only
  EXPECT_EQ(node.nics, 2);
  EXPECT_EQ(node.nic_of_gpu, (std::vector<int>{0, 0, 1, 1}));
  const ClusterGraph graph(cluster(node, 2));
  EXPECT_EQ(route(graph, graph.gpu(0, 0), graph.gpu(0, 1)),
            (std::vector<std::string>{"node0/gpu0 -> node0/gpu1"}));
  // over the CPUs, at 24 GB/s for EPYC of the third and fourth generation
  double slowest = 1e12;
  bool over_cpus = false;
  for (const RouteShare& share : graph.route(graph.gpu(0, 1), graph.gpu(0, 2))) {
    slowest = std::min(slowest, graph.link(share.link).capacity.value);
    over_cpus = over_cpus || graph.link_name(share.link) == "node0/cpu0 -> node0/cpu1";
  }
  EXPECT_TRUE(over_cpus);
  EXPECT_EQ(slowest, 24e9);
  // both ports share the card's slot
  EXPECT_EQ(route(graph, graph.gpu(0, 0), graph.nic(0, 0)).size(), 3U);
}

TEST(NcclTopology, SeveralNicsOfAGpuCountAsOne) {
  std::string text = data("hgx.xml");
  const std::string net = "<net name=\"mlx5_0\" dev=\"0\"";
  // two cards of 400 Gb/s under every switch
  std::size_t at = 0;
  int card = 10;
  while ((at = text.find("<pci busid=\"0000:", at)) != std::string::npos) {
    const std::size_t end = text.find("</pci>", at);
    const std::string slot = text.substr(at, end + 6 - at);
    if (slot.find("0x020700") != std::string::npos && slot.find("<pci", 1) == std::string::npos) {
      std::string copy = slot;
      copy.replace(copy.find("dev=\""), 6, "dev=\"" + std::to_string(card++) + "\" old=\"");
      text.insert(end + 6, copy);
      at = end + 6 + copy.size();
    } else {
      at += 1;
    }
  }
  const NodeSpec node = read_nccl_topology(text, "two.xml");
  EXPECT_EQ(node.nics, 4);
  EXPECT_EQ(node.nic_bandwidth, 100_GBps);
  EXPECT_EQ(node.nic_capacity, 96_GBps);
}

TEST(NcclTopology, InAScenario) {
  const Json json = Json::parse(R"({"name": "mine", "nodes": 2, "gpu": "H100-SXM5-80GB",
    "node": {"nccl_topology": "hgx.xml", "comm_sms": {"intra": 16, "inter": 16}},
    "fabric": {"nodes_per_leaf": 2, "rails": 4, "spines": 1, "oversubscription": 1},
    "profile": "none"})");
  const ClusterSpec spec =
      read_cluster(ObjectReader(json, "c.json#"), AMSP_SOURCE_DIR "/tests/topology/data");
  EXPECT_EQ(spec.node.nics, 4);
  EXPECT_EQ(spec.node.comm_sms_inter, 16);
  EXPECT_EQ(spec.fabric.leaf_spine_bandwidth, 100_GBps);
  const ClusterGraph graph(spec);
  EXPECT_EQ(graph.route(graph.gpu(0, 3), graph.gpu(1, 3)).size(), 6U);
}

struct BadFile {
  const char* from;  // replaced, once
  const char* to;
  const char* message;
};

TEST(NcclTopology, RefusesWhatItCantRead) {
  const BadFile kBad[] = {
      {"</system>", "", "t.xml: line 62: is no XML: unexpected end of data"},
      {"system version=\"1\"", "system version=\"2\"",
       "t.xml: <system>: version must be 1, found \"2\""},
      {"<gpu dev=\"1\"", "<gpu dev=\"0\"",
       "t.xml: gpu 0000:22:00.0: has the dev 0 of gpu 0000:12:00.0"},
      {"<gpu dev=\"1\"", "<gpu", "t.xml: gpu 0000:22:00.0: has no attribute 'dev'"},
      {"sm=\"90\"", "sm=\"hopper\"",
       "t.xml: gpu 0000:12:00.0: attribute 'sm' must be a whole number, found \"hopper\""},
      {"tclass=\"0x068000\"", "tclass=\"0x068100\"",
       "t.xml: gpu 0000:12:00.0: has an NVLink to a device of class 0x068100; only GPUs (0x03...) "
       "and NVSwitches (0x0680...) are known"},
      {"link_speed=\"32.0 GT/s PCIe\" link_width=\"16\"", "link_speed=\"\" link_width=\"0\"",
       "t.xml: pci 0000:10:00.0: link_speed \"\" and link_width 0 say no rate, as in a virtual "
       "machine; dump the topology on bare metal or write in both (\"16.0 GT/s PCIe\", 16)"},
      {"speed=\"400000\"", "speed=\"0\"", "t.xml: pci 0000:13:00.0: has a <net> of speed 0"},
      {"<nvlink target=\"0000:07:00.0\" count=\"10\" tclass=\"0x068000\"/>",
       "<c2c bw=\"44712\" count=\"5\"/>",
       "t.xml: gpu 0000:12:00.0: is joined to its CPU by NVLink-C2C, which is not modelled"},
      {"<nic>", "<fpga/><nic>", "t.xml: pci 0000:13:00.0: holds an unknown element <fpga>"},
  };
  for (const auto& [from, to, message] : kBad) {
    SCOPED_TRACE(message);
    std::string text = data("hgx.xml");
    text.replace(text.find(from), std::string(from).size(), to);
    try {
      read_nccl_topology(text, "t.xml");
      ADD_FAILURE() << "was accepted";
    } catch (const ConfigError& error) {
      EXPECT_STREQ(error.what(), message);
    }
  }
  const std::pair<const char*, const char*> kWhole[] = {
      {"<graphs version=\"1\"/>",
       "t.xml: holds NCCL's graphs (NCCL_GRAPH_DUMP_FILE), not the topology (NCCL_TOPO_DUMP_FILE)"},
      {"<topology/>", "t.xml: must hold a <system>, found <topology>"},
      {"<system version=\"1\"/>", "t.xml: <system>: holds no <cpu>"},
      {R"(<system version="1"><cpu numaid="0" arch="arm64"/></system>)",
       "t.xml: <system>: holds no <gpu>"},
      {R"(<system version="1"><cpu numaid="0" arch="arm64"><pci busid="0:1:0.0" class="0x030200"
          link_speed="16 GT/s" link_width="16"/></cpu></system>)",
       "t.xml: pci 0:1:0.0: holds neither <gpu>, <nic> nor <pci>: a file written for "
       "NCCL_TOPO_FILE leaves out what NCCL finds by itself; take what it dumps "
       "(NCCL_TOPO_DUMP_FILE)"},
  };
  for (const auto& [text, message] : kWhole) {
    try {
      read_nccl_topology(text, "t.xml");
      ADD_FAILURE() << "was accepted: " << text;
    } catch (const ConfigError& error) {
      EXPECT_STREQ(error.what(), message);
    }
  }
}

}  // namespace
}  // namespace amsp
