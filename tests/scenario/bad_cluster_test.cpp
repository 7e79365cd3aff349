#include "scenario/scenario.h"
#include "tests/scenario/bad_scenario.h"
#include "topology/cluster_graph.h"

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
     "s.json#/cluster/preset: must be one of a800-amsp-testbed, dgx-a100, dgx-a100-40gb; found "
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

class BadEngine : public testing::TestWithParam<BadScenario> {};

TEST_P(BadEngine, IsRefusedWithItsMessage) {
  expect_refused(GetParam());
}

constexpr BadScenario kEngines[] = {
    {"UnknownEngine", R"({"engine": "deepspeed"})",
     "s.json#/engine: must be one of amsp; found \"deepspeed\""},
    {"UnknownPreset", R"({"engine": {"preset": "fsdp2"}})",
     "s.json#/engine/preset: must be one of amsp; found \"fsdp2\""},
    {"NeitherNameNorObject", R"({"engine": 1})",
     "s.json#/engine: must be the name of an engine or an object with switches, found 1"},
    {"BareBucket", R"({"engine": {"bucket": 536870912}})",
     "s.json#/engine/bucket: must be a size with a unit such as \"80GiB\" or \"1.5MB\", found "
     "536870912"},
    {"EmptyBucket", R"({"engine": {"bucket": "0B"}})",
     "s.json#/engine/bucket: must be at least one byte"},
    {"MisspeltSwitch", R"({"engine": {"comunicators": "shared"}})",
     "s.json#/engine/comunicators: is not a known key; did you mean 'communicators'? (allowed: "
     "bucket, communicators, decoupled_reduce_scatter, gather_unit, grad_reduction, "
     "max_pending_reduce, os_sharding, overlap, param_update, prefetch_layers, preset, "
     "replica_sync)"},
    {"MisspeltValue", R"({"engine": {"communicators": "sharred"}})",
     "s.json#/engine/communicators: must be one of shared, separate; found \"sharred\"; did you "
     "mean 'shared'?"},
    {"OverlapOfWhat", R"({"engine": {"overlap": {"all-reduce": false}}})",
     "s.json#/engine/overlap/all-reduce: is not a known key; did you mean 'all_reduce'? (allowed: "
     "all_reduce, broadcast, gather)"},
    {"OverlapAsOneSwitch", R"({"engine": {"overlap": false}})",
     "s.json#/engine/overlap: must be an object, found false"},
    {"NoPendingReduce", R"({"engine": {"max_pending_reduce": 0}})",
     "s.json#/engine/max_pending_reduce: must be a whole number from 1 to 1048576, found 0"},
};
INSTANTIATE_TEST_SUITE_P(, BadEngine, testing::ValuesIn(kEngines), test_name);

class BadHead : public testing::TestWithParam<BadScenario> {};

TEST_P(BadHead, IsRefusedWithItsMessage) {
  expect_refused(GetParam());
}

constexpr BadScenario kHeads[] = {
    {"MissingSchema", R"({"schema": null})", "s.json#/schema: is missing"},
    {"NewerSchema", R"({"schema": "amsp.scenario/2"})",
     "s.json#/schema: must be \"amsp.scenario/1\", found \"amsp.scenario/2\""},
    {"OtherSchema", R"({"schema": "amsp.models/1"})",
     "s.json#/schema: must be \"amsp.scenario/1\", found \"amsp.models/1\""},
    {"MissingName", R"({"name": null})", "s.json#/name: is missing"},
    {"EmptyName", R"({"name": ""})", "s.json#/name: must not be empty"},
    {"UnknownPart", R"({"planner": {}})",
     "s.json#/planner: is not a known key; did you mean 'plan'? (allowed: $schema, cluster, "
     "description, engine, model, name, plan, report, schema, training)"},
    {"PriceWithoutCurrency", R"({"report": {"price_per_gpu_hour": 2.5}})",
     "s.json#/report/price_per_gpu_hour: must be a price with a currency such as \"2.50USD\", "
     "found 2.5"},
    {"PriceWithSign", R"({"report": {"price_per_gpu_hour": "2.5$"}})",
     "s.json#/report/price_per_gpu_hour: must be a price with a currency such as \"2.50USD\", "
     "found \"2.5$\""},
    {"NegativeBudget", R"({"report": {"token_budget": -1}})",
     "s.json#/report/token_budget: must be a number from 1 to 1e+18, found -1"},
    {"BudgetAsText", R"({"report": {"token_budget": "1e12"}})",
     "s.json#/report/token_budget: must be a number from 1 to 1e+18, found \"1e12\""},
};
INSTANTIATE_TEST_SUITE_P(, BadHead, testing::ValuesIn(kHeads), test_name);

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
