#include "planner/report/export.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "planner/report/report.h"
#include "tests/planner/cases.h"

namespace amsp {
namespace {

TEST(ExportScenario, IsTheCandidateAgain) {
  for (const char* batch : {"training.global_batch=96", "training.micro_batches=6"}) {
    const bool global = std::string(batch).find("global") != std::string::npos;
    const PlanningCase question =
        tiny_case(2, 4,
                  {global ? "training.micro_batches=null" : "training.micro_batch=2", batch,
                   "training.micro_batch=2"});
    SearchAxes axes;
    axes.secondary = axes.micro_batch = axes.recompute = true;
    const auto all = candidates(question.scenario, enumerate_plans({4, 2}), axes, {});
    EXPECT_GT(all.size(), 100U);
    for (const Candidate& candidate : all) {
      const Exported exported = export_scenario(question, candidate, ".");
      ASSERT_TRUE(exported.possible);
      const Scenario again =
          read_scenario(parse_json(exported.content, "again.json"), "again.json");
      EXPECT_EQ((Candidate{again.plan, again.training}), candidate);
      EXPECT_EQ(again.global_batch(), question.scenario.global_batch());
    }
  }
}

TEST(ExportScenario, KeepsPartOfAClusterAndFindsTheModelFromAnotherFolder) {
  const std::string source = AMSP_SOURCE_DIR "/scenarios/hf-config.json";
  Json json = read_json_file(source);
  json["plan"] = {{"dp", "4x1"}};
  const PlanningCase question = read_planning_case(json, source);
  const Candidate candidate{{{1, 1}, {1, 1}, {2, 1}, {4, 1}, {}}, question.scenario.training};
  const std::string folder = testing::TempDir();
  const Exported exported = export_scenario(question, candidate, folder);
  const std::string file = folder + "/exported.json";
  std::ofstream(file) << exported.content;
  const Scenario again = load_scenario(file);
  EXPECT_EQ(again.plan, candidate.plan);
  EXPECT_EQ(parameter_count(again.model), parameter_count(question.scenario.model));
}

struct PlanCase {
  const char* name;
  ShardingPlan plan;
  const char* deepspeed;  // its zero_optimization, or nullptr
  const char* fsdp2;      // what stands in the module, or nullptr
  const char* internevo;
};
std::ostream& operator<<(std::ostream& out, const PlanCase& c) {
  return out << c.name;
}
class ExportPlan : public testing::TestWithParam<PlanCase> {};

void expect_export(const Exported& exported, const char* expected) {
  EXPECT_EQ(exported.possible, expected != nullptr);
  EXPECT_FALSE(exported.notes.empty());
  if (expected != nullptr)
    EXPECT_THAT(exported.content, testing::HasSubstr(expected));
  else
    EXPECT_EQ(exported.content, "");
}

TEST_P(ExportPlan, IsWhatTheFrameworkSaysForIt) {
  const PlanningCase question = tiny_case(2, 8, {"training.micro_batches=4"});
  const Candidate candidate{GetParam().plan, question.scenario.training};
  const Exported deepspeed = export_deepspeed(question.scenario, candidate);
  EXPECT_EQ(deepspeed.possible, GetParam().deepspeed != nullptr);
  if (deepspeed.possible) {
    const Json json = parse_json(deepspeed.content, "ds.json");
    EXPECT_EQ(json["zero_optimization"].dump(), GetParam().deepspeed);
    EXPECT_EQ(json["train_batch_size"], 64);
    EXPECT_EQ(json["gradient_accumulation_steps"], 4);
    EXPECT_EQ(json["train_micro_batch_size_per_gpu"], 1);
  }
  expect_export(export_fsdp2(question.scenario, candidate), GetParam().fsdp2);
  expect_export(export_internevo(question.scenario, candidate), GetParam().internevo);
}

constexpr Mesh kOne{1, 1}, kFour{4, 1}, kNode{8, 1}, kDp{8, 2};
INSTANTIATE_TEST_SUITE_P(
    , ExportPlan,
    testing::Values(
        PlanCase{"Ddp",
                 {kOne, kOne, kOne, kDp, {}},
                 R"({"overlap_comm":true,"reduce_bucket_size":268435456,"stage":0})",
                 nullptr,
                 "zero1=dict(size=1)"},
        PlanCase{"Zero1",
                 {kOne, kOne, kDp, kDp, {}},
                 R"({"overlap_comm":true,"reduce_bucket_size":268435456,"stage":1})",
                 nullptr,
                 "zero1=dict(size=16)"},
        PlanCase{"Zero2",
                 {kOne, kDp, kDp, kDp, {}},
                 R"({"overlap_comm":true,"reduce_bucket_size":268435456,"stage":2})",
                 nullptr,
                 nullptr},
        PlanCase{"Zero3",
                 {kDp, kDp, kDp, kDp, {}},
                 R"({"overlap_comm":true,"stage":3})",
                 "init_device_mesh(\"cuda\", (16,), mesh_dim_names=(\"shard\",))",
                 "weight=dict(size=16, overlap=True)"},
        PlanCase{"Zeropp",
                 {kDp, kDp, kDp, kDp, kNode},
                 R"({"overlap_comm":true,"stage":3,"zero_hpz_partition_size":8})",
                 "reshard_after_forward=8",
                 nullptr},
        PlanCase{"Mics",
                 {kNode, kNode, kNode, kDp, {}},
                 R"({"mics_shard_size":8,"overlap_comm":true,"stage":3})",
                 "init_device_mesh(\"cuda\", (2, 8), mesh_dim_names=(\"replicate\", \"shard\"))",
                 "weight=dict(size=8, overlap=True)"},
        PlanCase{"Amsp7B", {kOne, kOne, kNode, kDp, {}}, nullptr, nullptr, "zero1=dict(size=8)"},
        PlanCase{"Amsp13B",
                 {kFour, kFour, kNode, kDp, {}},
                 nullptr,
                 nullptr,
                 "zero1=dict(size=2),  # owners of a shard's optimizer states: os over p\n"
                 "    tensor=dict(size=1, mode=\"isp\")"}),
    [](const auto& test) { return test.param.name; });

TEST(SearchText, FitsAHundredColumns) {
  const PlanningCase question = read_planning_case(
      read_json_file(AMSP_SOURCE_DIR "/scenarios/llama-7b-amsp-1024gpu.json"), "x.json");
  SearchOptions options;
  options.objective = Objective::kCommTime;
  options.top = 2;
  options.baselines = false;
  const SearchResult result = search(question, options, simulating());
  std::istringstream text(search_text(question, result, 1000));
  int lines = 0;
  for (std::string line; std::getline(text, line); ++lines) EXPECT_LE(line.size(), 100U) << line;
  EXPECT_GT(lines, 120);
}

}  // namespace
}  // namespace amsp
