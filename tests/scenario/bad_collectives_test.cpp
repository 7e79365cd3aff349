#include "tests/scenario/bad_scenario.h"

namespace amsp {
namespace {

class BadCollectives : public testing::TestWithParam<BadScenario> {};

TEST_P(BadCollectives, AreRefusedWithTheirMessage) {
  expect_refused(GetParam());
}

constexpr BadScenario kCollectives[] = {
    {"BesideAProfile", R"({"cluster": {"collectives": {"sharp": true}}})",
     "s.json#/cluster/collectives: has no effect beside profile 'a800-4xhdr'; set \"profile\": "
     "\"none\" to model collectives instead"},
    {"AnotherLibrary", R"({"cluster": {"profile": "none", "collectives": {"model": "rccl"}}})",
     "s.json#/cluster/collectives/model: must be one of nccl, rings; found \"rccl\"; did "
     "you mean 'nccl'?"},
    {"SettingsOfRings",
     R"({"cluster": {"profile": "none", "collectives": {"model": "rings", "sharp": true}}})",
     "s.json#/cluster/collectives/sharp: has no effect with the model rings"},
    {"NvlsOnAmpere",
     R"({"cluster": {"profile": "none", "collectives": {"algorithms": {"all_reduce": "nvls"}}}})",
     "s.json#/cluster/collectives/algorithms/all_reduce: nvls can't run all_reduce here: "
     "NVSwitches reduce from generation hopper on, the GPUs are ampere"},
    {"TreeBroadcast",
     R"({"cluster": {"profile": "none", "collectives": {"algorithms": {"broadcast": "tree"}}}})",
     "s.json#/cluster/collectives/algorithms/broadcast: tree can't run broadcast here: it has "
     "all_reduce only"},
    {"NothingOfAList",
     R"({"cluster": {"profile": "none",
                     "collectives": {"algorithms": {"all_gather": ["collnet_chain", "nvls"]}}}})",
     "s.json#/cluster/collectives/algorithms/all_gather: collnet_chain can't run all_gather here: "
     "it has all_reduce only; nvls can't run all_gather here: NVSwitches reduce from generation "
     "hopper on, the GPUs are ampere"},
    {"CollNetWithoutSharp",
     R"({"cluster": {"profile": "none",
                     "collectives": {"algorithms": {"all_reduce": "collnet_direct"}}}})",
     "s.json#/cluster/collectives/algorithms/all_reduce: collnet_direct can't run all_reduce here: "
     "it needs switches that reduce (\"sharp\": true)"},
    {"SharpOverRoce",
     R"({"cluster": {"profile": "none", "fabric": {"transport": "roce"},
                     "collectives": {"sharp": true}}})",
     "s.json#/cluster/collectives/sharp: needs InfiniBand switches; the fabric's transport is "
     "roce"},
    {"MisspeltAlgorithm",
     R"({"cluster": {"profile": "none",
                     "collectives": {"algorithms": {"all_reduce": ["ring", "tre"]}}}})",
     "s.json#/cluster/collectives/algorithms/all_reduce: must list some of ring, tree, nvls, "
     "nvls_tree, collnet_direct, collnet_chain, pat, found \"tre\"; did you mean 'tree'?"},
    {"NoAlgorithm",
     R"({"cluster": {"profile": "none", "collectives": {"algorithms": {"all_reduce": []}}}})",
     "s.json#/cluster/collectives/algorithms/all_reduce: must list at least one of ring, tree, "
     "nvls, nvls_tree, collnet_direct, collnet_chain, pat"},
    {"UnknownOperation",
     R"({"cluster": {"profile": "none", "collectives": {"protocols": {"all_to_all": "ll"}}}})",
     "s.json#/cluster/collectives/protocols/all_to_all: is not a known key (allowed: all_gather, "
     "all_reduce, broadcast, reduce_scatter)"},
    {"NoQueuePair", R"({"cluster": {"profile": "none", "collectives": {"qps_per_connection": 0}}})",
     "s.json#/cluster/collectives/qps_per_connection: must be a whole number from 1 to 128, found "
     "0"},
    {"MisspeltSetting", R"({"cluster": {"profile": "none", "collectives": {"shrap": true}}})",
     "s.json#/cluster/collectives/shrap: is not a known key; did you mean 'sharp'? (allowed: "
     "algorithms, cpu, model, nvls, protocols, qps_per_connection, sharp)"},
    {"DdpOfAShardedPlan", R"({"engine": "ddp", "plan": "zero3"})",
     "s.json#/engine: engine ddp keeps all parameters and gradients on every GPU; the plan shards "
     "parameters over 8x8 (engines that shard them: amsp, deepspeed, fsdp2)",
     kExitInfeasible},
};
INSTANTIATE_TEST_SUITE_P(, BadCollectives, testing::ValuesIn(kCollectives), test_name);

/// A GPU that NCCL's tables don't know has rings, unless asked otherwise.
TEST(UnknownArchitecture, HasRingsAndRefusesNccl) {
  Json json = read_json_file(data_folder() + "/full-explicit.json");
  json["cluster"]["gpu"].erase("architecture");
  EXPECT_EQ(outcome_of(json).message,
            "s.json#/cluster/collectives/model: nccl needs the GPU's 'architecture' (volta, "
            "ampere, hopper, blackwell)");
  json["cluster"]["collectives"].erase("model");
  EXPECT_EQ(outcome_of(json).message,
            "s.json#/cluster/collectives/sharp: needs the model nccl, hence the GPU's "
            "'architecture'");
  json["cluster"].erase("collectives");
  EXPECT_EQ(outcome_of(json).message, "");
}

}  // namespace
}  // namespace amsp
