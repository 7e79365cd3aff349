#include <gtest/gtest.h>

#include "core/json/json.h"
#include "tests/prediction/predicted.h"
#include "traces/check/trace_rules.h"
#include "traces/timeline/analysis.h"
#include "traces/write/chrome_writer.h"

namespace amsp {
namespace {

struct PlanCase {
  const char* name;
  int nodes;
  int gpus;
  const char* plan;
};

std::ostream& operator<<(std::ostream& out, const PlanCase& c) {
  return out << c.name;
}

std::vector<std::string> cluster_of(const PlanCase& c) {
  std::vector<std::string> overrides = {"cluster.nodes=" + std::to_string(c.nodes),
                                        "cluster.node.gpus=" + std::to_string(c.gpus),
                                        "plan=" + std::string(c.plan)};
  // One NIC per GPU, so that no two groups share one.
  overrides.push_back("cluster.node.nics.count=" + std::to_string(c.gpus));
  return overrides;
}

class ClosedForm : public testing::TestWithParam<PlanCase> {};

/// As kNoOverlap, of another engine.
std::vector<std::string> no_overlap(const std::string& engine) {
  std::vector<std::string> overrides = kNoOverlap;
  overrides.front() = "engine.preset=" + engine;
  return overrides;
}

/// Nothing overlaps and no two groups share a link: the simulation is the sum of the tasks.
TEST_P(ClosedForm, ExactEqualsSimulationWithoutOverlapAndContention) {
  for (const char* m : {"1", "3"})
    for (const char* recompute : {"none", "full"})
      for (const char* os_sharding : {"tensor", "flat"}) {
        const Predicted p = predict(tiny_scenario(
            cluster_of(GetParam()) + kNoOverlap +
            std::vector<std::string>{"training.micro_batches=" + std::string(m),
                                     "training.recompute=" + std::string(recompute),
                                     "engine.os_sharding=" + std::string(os_sharding)}));
        EXPECT_NEAR(step_s(p) / p.prediction.exact.total.value, 1, 1e-9)
            << "M " << m << " recompute " << recompute << " " << os_sharding;
      }
}

/// The same of the other engines, and of their own overlap: never longer than the sum.
TEST_P(ClosedForm, OtherEnginesAreTheSumOfTheirTasksToo) {
  for (const std::string engine : {"deepspeed", "fsdp2", "ddp"})
    for (const char* m : {"1", "3"}) {
      const std::vector<std::string> overrides =
          cluster_of(GetParam()) +
          std::vector<std::string>{"training.micro_batches=" + std::string(m)};
      const bool shards =
          std::string(GetParam().plan) != "ddp" && std::string(GetParam().plan) != "zero1";
      if (engine == "ddp" && shards) continue;
      const Predicted chain = predict(tiny_scenario(overrides + no_overlap(engine)));
      EXPECT_NEAR(step_s(chain) / chain.prediction.exact.total.value, 1, 1e-9)
          << engine << " M " << m;
      const Predicted own =
          predict(tiny_scenario(overrides + std::vector<std::string>{"engine=" + engine}));
      EXPECT_LE(step_s(own), own.prediction.exact.total.value * (1 + 1e-9)) << engine;
      EXPECT_GE(step_s(own), own.prediction.exact.compute.value * (1 - 1e-9)) << engine;
    }
}

TEST_P(ClosedForm, CriticalPathTilesTheWindow) {
  const Predicted p = predict(tiny_scenario(cluster_of(GetParam())));
  Nanoseconds sum;
  for (const auto& [kind, time] : p.prediction.critical_path) sum += time;
  EXPECT_LE(sum, to_ns(p.prediction.step_time) + 1_ns);
  EXPECT_GE(sum, to_ns(p.prediction.step_time) - 1_ns);
}

TEST_P(ClosedForm, OverlapNeverTakesLongerThanTheSum) {
  const Predicted p = predict(tiny_scenario(cluster_of(GetParam())));
  // Sharing SMs between compute and communication slows both, but never beyond running one after
  // the other.
  EXPECT_LE(step_s(p), p.prediction.exact.total.value * (1 + 1e-9));
  EXPECT_GE(step_s(p), p.prediction.exact.compute.value * (1 - 1e-9));
}

TEST_P(ClosedForm, AThirdStepTakesAsLongAsTheFirst) {
  const Scenario scenario = tiny_scenario(cluster_of(GetParam()));
  EXPECT_NEAR(step_s(predict(scenario, 3)) / step_s(predict(scenario, 1)), 1, 1e-9);
}

INSTANTIATE_TEST_SUITE_P(
    , ClosedForm,
    testing::Values(PlanCase{"Ddp1x4", 1, 4, "ddp"}, PlanCase{"Zero1_1x4", 1, 4, "zero1"},
                    PlanCase{"Zero2_1x4", 1, 4, "zero2"}, PlanCase{"Zero3_1x4", 1, 4, "zero3"},
                    PlanCase{"Mics2_1x4", 1, 4, "mics-2"}, PlanCase{"Ddp4x1", 4, 1, "ddp"},
                    PlanCase{"Zero1_4x1", 4, 1, "zero1"}, PlanCase{"Zero3_4x1", 4, 1, "zero3"},
                    PlanCase{"Mics2_4x1", 4, 1, "mics-2"}, PlanCase{"Hsdp2x2", 2, 2, "hsdp-2"}),
    [](const auto& test) { return test.param.name; });

TEST(Reports, NamedAndWrittenPlanAreTheSame) {
  const auto report = [](const std::string& plan) {
    Scenario scenario = tiny_scenario({"cluster.nodes=2", "plan=" + plan});
    scenario.plan_name = "same";
    const Predicted p = predict(scenario);
    return json_report(scenario, p.prediction).dump();
  };
  EXPECT_EQ(report("zero3"), report(R"({"p":"8x2","g":"8x2","os":"8x2"})"));
}

TEST(Reports, TracesObeyTheViewersRules) {
  for (const char* plan : {"zero1", "zero3", "hsdp-8"}) {
    const Predicted p = predict(tiny_scenario(
        {"cluster.nodes=2", "training.micro_batches=2", "plan=" + std::string(plan)}));
    for (const std::vector<Rank>& ranks : {std::vector<Rank>{3}, std::vector<Rank>{0, 9, 15}}) {
      TraceMeta meta;
      meta.producer = "test";
      meta.source = "sim";
      meta.device_name = "GPU";
      EXPECT_EQ(broken_trace_rules(chrome_trace(p.playback.timeline, ranks, meta)),
                std::vector<std::string>{})
          << plan;
    }
  }
}

TEST(Reports, TwoRunsGiveTheSameBytes) {
  const Scenario scenario = tiny_scenario({"cluster.nodes=2", "plan=zero1"});
  const Predicted a = predict(scenario);
  const Predicted b = predict(scenario);
  EXPECT_EQ(json_report(scenario, a.prediction).dump(), json_report(scenario, b.prediction).dump());
  EXPECT_EQ(text_report(scenario, a.prediction, false), text_report(scenario, b.prediction, false));
}

}  // namespace
}  // namespace amsp
