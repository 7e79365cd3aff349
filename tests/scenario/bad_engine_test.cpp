#include "tests/scenario/bad_scenario.h"

namespace amsp {
namespace {

class BadEngine : public testing::TestWithParam<BadScenario> {};

TEST_P(BadEngine, IsRefusedWithItsMessage) {
  expect_refused(GetParam());
}

constexpr BadScenario kEngines[] = {
    {"UnknownEngine", R"({"engine": "deepsped"})",
     "s.json#/engine: must be one of amsp, deepspeed, fsdp2, ddp; found \"deepsped\"; did you mean "
     "'deepspeed'?"},
    {"UnknownPreset", R"({"engine": {"preset": "megatron"}})",
     "s.json#/engine/preset: must be one of amsp, deepspeed, fsdp2, ddp; found \"megatron\""},
    {"NeitherNameNorObject", R"({"engine": 1})",
     "s.json#/engine: must be the name of an engine or an object with switches, found 1"},
    {"BareBucket", R"({"engine": {"bucket": 536870912}})",
     "s.json#/engine/bucket: must be a size with a unit such as \"80GiB\" or \"1.5MB\", found "
     "536870912"},
    {"EmptyBucket", R"({"engine": {"bucket": "0B"}})",
     "s.json#/engine/bucket: must be at least one byte"},
    {"MisspeltSwitch", R"({"engine": {"comunicators": "shared"}})",
     "s.json#/engine/comunicators: is not a known key; did you mean 'communicators'? (allowed: "
     "bucket, communicators, decoupled_reduce_scatter, gather_copies, gather_unit, grad_reduction, "
     "max_pending_reduce, os_sharding, overlap, param_update, prefetch_layers, preset, "
     "reduce_copies, reduce_unit, replica_sync)"},
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

}  // namespace
}  // namespace amsp
