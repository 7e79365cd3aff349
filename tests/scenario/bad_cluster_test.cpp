#include "scenario/scenario.h"
#include "tests/scenario/bad_scenario.h"
#include "topology/graph/cluster_graph.h"

namespace amsp {
namespace {

class BadCluster : public testing::TestWithParam<BadScenario> {};

TEST_P(BadCluster, IsRefusedWithItsMessage) {
  expect_refused(GetParam());
}

constexpr BadScenario kClusters[] = {
    {"BareBandwidth", R"({"cluster": {"fabric": {"leaf_spine_bandwidth": 200}}})",
     "s.json#/cluster/fabric/leaf_spine_bandwidth: must be a bandwidth with a unit such as "
     "\"200Gbps\" or \"25GBps\", found 200"},
    {"BandwidthWithoutUnit", R"({"cluster": {"fabric": {"leaf_spine_bandwidth": "200"}}})",
     "s.json#/cluster/fabric/leaf_spine_bandwidth: must be a bandwidth with a unit such as "
     "\"200Gbps\" or \"25GBps\", found \"200\""},
    {"UnknownPreset", R"({"cluster": {"preset": "dgx-a10"}})",
     "s.json#/cluster/preset: must be one of a800-amsp-testbed, dgx-a100, dgx-a100-40gb, dgx-b200, "
     "dgx-h100, gb200-nvl72, hgx-h200, hgx-h800, l40s-pcie; found "
     "\"dgx-a10\"; did you mean 'dgx-a100'?"},
    {"NoNodes", R"({"cluster": {"nodes": 0}})",
     "s.json#/cluster/nodes: must be a whole number from 1 to 1048576, found 0"},
    {"NodesAsText", R"({"cluster": {"nodes": "8"}})",
     "s.json#/cluster/nodes: must be a whole number from 1 to 1048576, found \"8\""},
    {"MisspeltDeepDown", R"({"cluster": {"node": {"nics": {"cuont": 4}}}})",
     "s.json#/cluster/node/nics/cuont: is not a known key; did you mean 'count'? (allowed: "
     "bandwidth, capacity, count, gpu_affinity)"},
    {"UnknownProfile", R"({"cluster": {"profile": "a800"}})",
     "s.json#/cluster/profile: must be one of none, a800-4xhdr; found \"a800\""},
};
INSTANTIATE_TEST_SUITE_P(, BadCluster, testing::ValuesIn(kClusters), test_name);

TEST(DisconnectedCluster, IsRefusedWithItsMessage) {
  Json json = base_scenario();
  json["cluster"]["fabric"]["spines"] = 0;
  const Scenario scenario = read_scenario(json, "s.json");
  try {
    const ClusterGraph graph(scenario.cluster);
    ADD_FAILURE() << "was accepted";
  } catch (const ConfigError& error) {
    EXPECT_STREQ(
        error.what(),
        "cluster is not connected: node0/gpu0 cannot reach node4/gpu0 (two leaves and no spine)");
  }
}

}  // namespace
}  // namespace amsp
