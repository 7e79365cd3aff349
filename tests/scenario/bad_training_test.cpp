#include "tests/scenario/bad_scenario.h"

namespace amsp {
namespace {

class BadTraining : public testing::TestWithParam<BadScenario> {};

TEST_P(BadTraining, IsRefusedWithItsMessage) {
  expect_refused(GetParam());
}

constexpr BadScenario kTrainings[] = {
    {"MisspeltKey", R"({"training": {"recompte": "full"}})",
     "s.json#/training/recompte: is not a known key; did you mean 'recompute'? (allowed: "
     "clip_gradients, global_batch, micro_batch, micro_batches, optimizer, precision, recompute, "
     "sequence_length)"},
    {"MissingKey", R"({"training": {"sequence_length": null}})",
     "s.json#/training/sequence_length: is missing"},
    {"MissingKeyMisspelt", R"({"training": {"sequence_length": null, "sequence_lenght": 4096}})",
     "s.json#/training/sequence_length: is missing; is 'sequence_lenght' a misspelling of it?"},
    {"BothBatches", R"({"training": {"micro_batches": 4}})",
     "s.json#/training: needs exactly one of 'global_batch' and 'micro_batches', has both"},
    {"NoBatch", R"({"training": {"global_batch": null}})",
     "s.json#/training: needs exactly one of 'global_batch' and 'micro_batches', has neither"},
    {"NegativeMicroBatches", R"({"training": {"global_batch": null, "micro_batches": -1}})",
     "s.json#/training/micro_batches: must be a whole number from 1 to 1048576, found -1"},
    {"NoMicroBatch", R"({"training": {"micro_batch": 0}})",
     "s.json#/training/micro_batch: must be a whole number from 1 to 65536, found 0"},
    {"TooManyTokens", R"({"training": {"sequence_length": 16777216, "micro_batch": 9}})",
     "s.json#/training/micro_batch: 9 sequences of 16777216 tokens are 150994944 tokens a "
     "micro-batch; at most 134217728"},
    {"TooManyMicroBatches", R"({"training": {"global_batch": 1099511627776}})",
     "s.json#/training/global_batch: 1099511627776 sequences are 17179869184 micro-batches a step; "
     "at most 1048576"},
    {"TooManySequences",
     R"({"training": {"global_batch": null, "micro_batch": 32768, "micro_batches": 1048576}})",
     "s.json#/training/micro_batches: 1048576 micro-batches of 32768 on 64 GPUs (dp 8x8) are more "
     "than 1099511627776 sequences a step"},
    {"UnknownRecompute", R"({"training": {"recompute": "ful"}})",
     "s.json#/training/recompute: must be one of none, full; found \"ful\"; did you mean 'full'?"},
    {"RecomputeOfMoreThanAll", R"({"training": {"recompute": {"share": 1.5}}})",
     "s.json#/training/recompute/share: must be a number from 0.001 to 1, found 1.5"},
    {"RecomputeOfNoLayer", R"({"training": {"recompute": {"share": 0.01}}})",
     "s.json#/training/recompute/share: 0.01 of the model's 32 layers is none"},
    {"RecomputeWithAnUnknownKey", R"({"training": {"recompute": {"every": 2}}})",
     "s.json#/training/recompute/share: is missing"},
    {"ProductsOfBf16", R"({"training": {"precision": {"products": "tf32"}}})",
     "s.json#/training/precision/products: is not a known key (allowed: gradients, parameters)"},
    {"UnknownPrecision", R"({"training": {"precision": {"gradients": "fp16"}}})",
     "s.json#/training/precision/gradients: must be one of bf16, fp32; found \"fp16\"; did you "
     "mean 'bf16'?"},
    {"UnknownOptimizer", R"({"training": {"optimizer": "adamw"}})",
     "s.json#/training/optimizer: must be one of adam, adam8bit, lion, adafactor; found \"adamw\"; "
     "did you mean 'adam'?"},
    {"OptimizerWithoutTraffic",
     R"({"training": {"optimizer": {"name": "mine", "state_bytes": 4}}})",
     "s.json#/training/optimizer/traffic_bytes: is missing"},
    {"OptimizerWithNegativeState",
     R"({"training": {"optimizer": {"name": "m", "state_bytes": -4, "traffic_bytes": 8}}})",
     "s.json#/training/optimizer/state_bytes: must be a number from 0 to 1024, found -4"},
    {"BatchDoesntDivide", R"({"training": {"global_batch": 1000}})",
     "s.json#/training/global_batch: 1000 sequences don't divide into micro-batches of 1 on 64 "
     "GPUs (dp 8x8); global batches that do: 960 or 1024; micro-batches that do: none",
     kExitInfeasible},
    {"BatchTooSmall", R"({"training": {"global_batch": 32}})",
     "s.json#/training/global_batch: 32 sequences don't divide into micro-batches of 1 on 64 GPUs "
     "(dp 8x8); global batches that do: 64; micro-batches that do: none",
     kExitInfeasible},
    {"MicroBatchDoesntDivide", R"({"training": {"micro_batch": 3}})",
     "s.json#/training/global_batch: 1024 sequences don't divide into micro-batches of 3 on 64 "
     "GPUs (dp 8x8); global batches that do: 960 or 1152; micro-batches that do: 1, 2, 4, 8, 16",
     kExitInfeasible},
};
INSTANTIATE_TEST_SUITE_P(, BadTraining, testing::ValuesIn(kTrainings), test_name);

class BadPlan : public testing::TestWithParam<BadScenario> {};

TEST_P(BadPlan, IsRefusedWithItsMessage) {
  expect_refused(GetParam());
}

constexpr BadScenario kPlans[] = {
    {"Missing", R"({"plan": null})", "s.json#/plan: is missing"},
    {"Number", R"({"plan": 3})",
     "s.json#/plan: must be the name of a plan or an object with meshes, found 3"},
    {"UnknownName", R"({"plan": "zero4"})",
     "s.json#/plan: 'zero4' is not a known plan; did you mean 'zero1'? (allowed: ddp, zero1, "
     "zero2, zero3, zeropp, mics-K, hsdp-K, amsp, or meshes p, g, os)"},
    {"MicsThatFillsNoNode", R"({"plan": "mics-12"})",
     "s.json#/plan: 'mics-12' doesn't fill whole nodes of 8 GPUs"},
    {"AmspForAnotherModel", R"({"plan": "amsp", "model": {"preset": "mistral-7b"}})",
     "s.json#/plan: 'amsp' is the plan of the paper's Table IV, which has llama-7b, llama-13b and "
     "llama-30b but not 'mistral-7b'; give the meshes p, g, os"},
    {"AmspForAChangedModel", R"({"plan": "amsp", "model": {"layers": 31}})",
     "s.json#/plan: 'amsp' is the plan of the paper's Table IV, which has llama-7b, llama-13b and "
     "llama-30b but not 'llama-7b-changed'; give the meshes p, g, os"},
    {"NameAndMeshes", R"({"plan": {"name": "zero1", "p": "1x1"}})",
     "s.json#/plan: gives both 'name' and the mesh 'p'; only one can hold"},
    {"MissingMesh", R"({"plan": {"p": "1x1", "g": "1x1"}})", "s.json#/plan/os: is missing"},
    {"MeshOfOneNumber", R"({"plan": {"p": "8", "g": "1x1", "os": "1x1"}})",
     "s.json#/plan/p: must be a mesh of GPUs per node x nodes such as \"8x4\", found \"8\""},
    {"MeshOfNothing", R"({"plan": {"p": "0x1", "g": "1x1", "os": "1x1"}})",
     "s.json#/plan/p: must be a mesh of GPUs per node x nodes such as \"8x4\", found \"0x1\""},
    {"ThreeOfEightGpus", R"({"plan": {"p": "3x1", "g": "3x1", "os": "3x1"}})",
     "s.json#/plan: plan breaks rule nesting: os 3x1 must divide dp 8x8 on both axes; 3 GPUs per "
     "node don't divide 8",
     kExitInfeasible},
    {"MicsOfThreeGpus", R"({"plan": "mics-3"})",
     "s.json#/plan: plan breaks rule nesting: os 3x1 must divide dp 8x8 on both axes; 3 GPUs per "
     "node don't divide 8",
     kExitInfeasible},
    {"ParametersDontDivideStates", R"({"plan": {"p": "8x1", "g": "8x1", "os": "4x1"}})",
     "s.json#/plan: plan breaks rule nesting: g 8x1 must divide os 4x1 on both axes; 8 GPUs per "
     "node don't divide 4",
     kExitInfeasible},
    {"GradientsBetween", R"({"plan": {"p": "1x1", "g": "4x1", "os": "8x1"}})",
     "s.json#/plan: plan breaks rule gradients: g 4x1 must be p 1x1 or os 8x1", kExitInfeasible},
    {"PartsOfSeveralNodes", R"({"plan": {"p": "1x1", "g": "1x1", "os": "4x2"}})",
     "s.json#/plan: plan breaks rule fewest nodes: os 4x2 spreads over 2 nodes but uses 4 of the 8 "
     "GPUs of dp in each",
     kExitInfeasible},
    {"MoreNodesThanThereAre", R"({"plan": {"name": "zero1", "dp": "8x9"}})",
     "s.json#/plan: plan breaks rule size: dp 8x9 doesn't fit into the cluster of 8 nodes with 8 "
     "GPUs each",
     kExitInfeasible},
    {"SecondCopyLikeTheFirst", R"({"plan": {"p": "8x1", "g": "8x1", "os": "8x1", "p2": "8x1"}})",
     "s.json#/plan: plan breaks rule secondary parameters: p2 8x1 must be smaller than p 8x1",
     kExitInfeasible},
};
INSTANTIATE_TEST_SUITE_P(, BadPlan, testing::ValuesIn(kPlans), test_name);

}  // namespace
}  // namespace amsp
