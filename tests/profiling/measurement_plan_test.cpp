#include "profiling/measurement_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "core/error.h"
#include "core/json/json.h"
#include "prediction/predict.h"

namespace amsp {
namespace {

constexpr const char* k13B = AMSP_SOURCE_DIR "/scenarios/table5/table5-13b-full.json";

MeasurementPlan plan_of(const char* file, std::vector<std::string> overrides = {}) {
  overrides.emplace_back("stack=reference");
  return plan_measurements(load_scenario(file, overrides));
}

const KernelNeed& kernel(const MeasurementPlan& plan, const std::string& name) {
  for (const KernelNeed& need : plan.kernels)
    if (need.name == name) return need;
  throw InternalError("the plan has no " + name);
}

const CollectiveNeed& family(const MeasurementPlan& plan, CollectiveKind kind,
                             const std::string& mesh, bool together) {
  for (const CollectiveNeed& need : plan.collectives)
    if (need.kind == kind && to_string(need.mesh) == mesh && need.together == together) return need;
  throw InternalError("the plan has no " + mesh);
}

TEST(MeasurementPlan, CountsEveryTaskOfAStep) {
  const Scenario scenario = load_scenario(k13B);
  const amsp::Setup setup(scenario);
  const MeasurementPlan plan = plan_measurements(scenario);
  int kernels = 0, calls = 0;
  for (const Task& task : setup.graph().tasks()) {
    if (task.key.step != 1) continue;
    kernels += task.kind == WorkKind::kCompute ? 1 : 0;
    if (task.kind == WorkKind::kCollective && setup.graph().collective(task).call.mesh.size() > 1)
      ++calls;
  }
  int planned_kernels = 0, planned_calls = 0;
  for (const KernelNeed& need : plan.kernels) planned_kernels += need.per_step;
  for (const CollectiveNeed& need : plan.collectives)
    if (!need.together) planned_calls += need.per_step();
  EXPECT_EQ(planned_kernels, kernels);
  EXPECT_EQ(planned_calls, calls);
}

// LLaMA-13B: 40 layers, h 5120, f 13824, V 32000, 40 heads of 128; one micro-batch of 4096 tokens
TEST(MeasurementPlan, ListsKernelsByShapeAndDirection) {
  const MeasurementPlan plan = plan_of(k13B, {"training.micro_batches=1"});
  EXPECT_EQ(kernel(plan, "gemm 4096x5120x5120 forward").per_step, 160);          // q, k, v, o
  EXPECT_EQ(kernel(plan, "gemm 4096x5120x13824 forward").per_step, 80);          // gate, up
  EXPECT_EQ(kernel(plan, "gemm 4096x13824x5120 forward").per_step, 40);          // down
  EXPECT_EQ(kernel(plan, "gemm 4096x13824x5120 data gradient").per_step, 80);    // gate, up
  EXPECT_EQ(kernel(plan, "gemm 5120x4096x13824 weight gradient").per_step, 80);  // gate, up
  EXPECT_EQ(kernel(plan, "gemm 4096x5120x32000 forward").per_step, 1);           // head
  EXPECT_EQ(kernel(plan, "attention S 4096 b 1 heads 40 d 128 backward").per_step, 40);
  EXPECT_EQ(kernel(plan, "norm forward, 83.9 MB").per_step, 81);  // two a layer, and the last
  EXPECT_EQ(kernel(plan, "adam step, 45.6 GB").per_step, 1);
}

TEST(MeasurementPlan, SaysWhatTheProfileKnows) {
  const MeasurementPlan plan = plan_of(k13B);
  EXPECT_EQ(plan.profile, "a800-4xhdr");
  const KernelNeed& attention = kernel(plan, "attention S 4096 b 1 heads 40 d 128 forward");
  EXPECT_EQ(attention.coverage, Coverage::kMeasured);
  EXPECT_EQ(kernel(plan, "gemm 4096x5120x5120 forward").coverage, Coverage::kDerived);
  EXPECT_FALSE(kernel(plan, "gemm 4096x5120x32000 forward").coverage == Coverage::kMeasured);
  EXPECT_EQ(kernel(plan, "norm forward, 83.9 MB").coverage, Coverage::kDerived);
  // a whole node's group of neighbours is measured; its 4 bytes are below the smallest size
  const auto& gather = family(plan, CollectiveKind::kAllGather, "4x1", false);
  EXPECT_TRUE(gather.in_profile);
  EXPECT_EQ(gather.coverage(), Coverage::kDerived);
  EXPECT_EQ(gather.sizes.front().coverage, Coverage::kDerived);
  EXPECT_EQ(gather.sizes.back().coverage, Coverage::kMeasured);
  const auto& reduce = family(plan, CollectiveKind::kAllReduce, "2x8/4x1", false);
  EXPECT_FALSE(reduce.in_profile);
  EXPECT_EQ(reduce.coverage(), Coverage::kDerived);
  EXPECT_EQ(family(plan, CollectiveKind::kAllReduce, "2x8/4x1", true).coverage(),
            Coverage::kModelled);
}

TEST(MeasurementPlan, WithoutAProfileAllIsModelledOrFromBytes) {
  const MeasurementPlan plan = plan_of(k13B, {"cluster.profile=none"});
  EXPECT_TRUE(plan.profile.empty());
  for (const KernelNeed& need : plan.kernels)
    EXPECT_EQ(need.coverage, Coverage::kDerived) << need.name;  // measured on A100
  for (const CollectiveNeed& need : plan.collectives)
    EXPECT_EQ(need.coverage(), Coverage::kModelled);
}

TEST(MeasurementPlan, StrictProfilesRefuseNothingHere) {
  EXPECT_EQ(measurements_json(plan_of(k13B, {"cluster.profile_policy=strict"})),
            measurements_json(plan_of(k13B)));
}

TEST(MeasurementPlan, LaddersHoldPowersOfTwoAroundSizesInUse) {
  const MeasurementPlan plan = plan_of(k13B);
  std::vector<std::pair<std::int64_t, bool>> sizes;
  for (const SizeNeed& size : family(plan, CollectiveKind::kAllReduce, "2x8/4x1", false).sizes)
    sizes.emplace_back(size.bytes.value, size.per_step > 0);
  // buckets of 537 to 564 MB count as the largest, and a last one of 452 MB
  EXPECT_THAT(sizes, testing::ElementsAre(std::pair(268435456, false), std::pair(451558400, true),
                                          std::pair(536870912, false), std::pair(563630080, true),
                                          std::pair(1073741824, false)));
  const auto& norm = family(plan, CollectiveKind::kAllReduce, "8x1", false);
  ASSERT_EQ(norm.sizes.size(), 1U);  // latency: nothing beside it
  EXPECT_EQ(norm.sizes[0].bytes, 4_B);
  EXPECT_EQ(norm.sizes[0].element_bytes, 4);
}

TEST(MeasurementPlan, AllGroupsAtOnceTakeWhatTheirLinksTake) {
  const MeasurementPlan plan = plan_of(k13B);
  // Four groups of 2x8 share the NICs of a node; groups inside a node share nothing.
  const auto& one = family(plan, CollectiveKind::kAllReduce, "2x8/4x1", false);
  const auto& all = family(plan, CollectiveKind::kAllReduce, "2x8/4x1", true);
  EXPECT_EQ(one.groups, 4);
  EXPECT_EQ(one.gpus(), 16);
  EXPECT_EQ(all.gpus(), 64);
  // 2 * 15/16 of the message by each group's ring, over 4 NICs of 24.3821 GB/s
  const double bytes = 563630080, nics = 4 * 24.3821e9;
  EXPECT_NEAR(all.sizes[3].time.value, 4 * 2 * 15.0 / 16 * bytes / nics, 1e-4);
  EXPECT_GT(all.sizes[3].time, one.sizes[3].time);
  const auto& inside = family(plan, CollectiveKind::kAllGather, "4x1", true);
  EXPECT_EQ(inside.sizes.back().time,
            family(plan, CollectiveKind::kAllGather, "4x1", false).sizes.back().time);
}

TEST(MeasurementPlan, CostIsRepetitionsTimesTimeAndSettingUp) {
  const MeasuringRules rules;
  EXPECT_EQ(rules.repetitions(Seconds{1e-6}), 200);
  EXPECT_EQ(rules.repetitions(Seconds{1e-3}), 100);  // 0.1 s of them
  EXPECT_EQ(rules.repetitions(Seconds{1}), 20);
  EXPECT_DOUBLE_EQ(rules.running(Seconds{1e-3}).value, 0.105);  // 5 to warm up

  const MeasurementPlan plan = plan_of(k13B);
  const KernelNeed& adam = kernel(plan, "adam step, 45.6 GB");
  EXPECT_EQ(adam.repetitions, 20);
  EXPECT_DOUBLE_EQ(adam.cost.value, 0.05 + 25 * adam.time.value);
  double wall = 0, gpus = 0;
  for (const KernelNeed& need : plan.kernels) wall += need.cost.value;
  EXPECT_DOUBLE_EQ(plan.kernel_cost().value, wall);
  gpus = wall;
  for (const CollectiveNeed& need : plan.collectives) {
    double cost = 2;
    for (const SizeNeed& size : need.sizes) cost += (5 + size.repetitions) * size.time.value;
    EXPECT_NEAR(plan.cost(need).value, cost, 1e-12);
    gpus += need.gpus() * cost;
  }
  EXPECT_NEAR(plan.gpu_seconds(), gpus, 1e-9);
}

TEST(MissingMeasurements, AreThoseThatAProfileCouldHold) {
  const MeasurementPlan left = missing(plan_of(k13B));
  for (const KernelNeed& need : left.kernels) {
    EXPECT_NE(need.coverage, Coverage::kMeasured) << need.name;
  }
  ASSERT_EQ(left.collectives.size(), 3U);
  for (const CollectiveNeed& need : left.collectives) {
    EXPECT_FALSE(need.together);
    EXPECT_EQ(need.mesh.stride, (Mesh{1, 1}));
  }
  // the smallest used size and those beside it
  EXPECT_EQ(left.collectives[0].sizes.size(), 3U);
  EXPECT_EQ(left.collectives[0].sizes.front().bytes, Bytes{8192});
  EXPECT_EQ(left.collectives[0].sizes.back().bytes, Bytes{16384});
}

TEST(MissingMeasurements, WhatTheProfileHasNoAnswerFor) {
  // a profile of broadcasts only
  Json profile = read_json_file(AMSP_SOURCE_DIR "/data/profiles/a800-4xhdr.json");
  Json tables = Json::array();
  for (const Json& table : profile["collectives"])
    if (table["op"] == "broadcast") tables.push_back(table);
  profile["collectives"] = tables;
  const std::string path = testing::TempDir() + "/broadcasts.json";
  write_file(path, profile.dump());
  const MeasurementPlan plan = plan_of(k13B, {"cluster.profile=" + path});
  const auto& gather = family(plan, CollectiveKind::kAllGather, "4x1", false);
  EXPECT_EQ(gather.coverage(), Coverage::kMissing);
  EXPECT_GT(gather.sizes.front().time.value, 0);  // what a model says, for the cost
  EXPECT_EQ(family(plan, CollectiveKind::kBroadcast, "2x1/4x1", false).coverage(),
            Coverage::kMeasured);
}

TEST(MissingMeasurements, NothingIsSaidInWords) {
  MeasurementPlan plan;
  plan.scenario = "s";
  EXPECT_EQ(measurements_text(plan),
            "s\n  times     modelled (no profile)\n\nnothing is missing: all that a profile has a "
            "place for was measured\n");
}

TEST(MeasurementReport, FitsAndHasUnitsInKeys) {
  const MeasurementPlan plan = plan_of(k13B);
  std::istringstream text(measurements_text(plan));
  for (std::string line; std::getline(text, line);) EXPECT_LE(line.size(), 100U) << line;
  const OrderedJson json = measurements_json(plan);
  EXPECT_EQ(json["schema"], "amsp.measurements/1");
  EXPECT_EQ(json["kernels"].size(), plan.kernels.size());
  EXPECT_EQ(json["collectives"][0]["sizes"][0]["bytes"], plan.collectives[0].sizes[0].bytes.value);
  EXPECT_EQ(json["total"]["kernels_s"], plan.kernel_cost().value);
}

}  // namespace
}  // namespace amsp
