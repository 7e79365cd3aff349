#include "trace_calibration/calibrate.h"

#include <gtest/gtest.h>

#include "core/error.h"
#include "core/json/json.h"
#include "lowering/compute_profile.h"
#include "prediction/predict.h"
#include "sim/simulator.h"
#include "tests/core/message_of.h"
#include "topology/profile/collective_profile.h"
#include "trace_reader/load_traces.h"
#include "traces/write/chrome_writer.h"

namespace amsp {
namespace {

/// A simulated run: the times behind its kernels are those of the profile it was simulated with.
struct TracedRun {
  explicit TracedRun(const std::vector<std::string>& overrides)
      : scenario(
            load_scenario(AMSP_SOURCE_DIR "/scenarios/paper/llama-7b-zero3-8gpu.json", overrides)),
        setup(scenario) {
    const Timeline timeline = simulate(setup.lowering()).timeline;
    step_time = timeline.step_time();
    TraceMeta meta;
    meta.source = "sim";
    std::vector<Rank> ranks;
    for (Rank rank = 0; rank < timeline.ranks(); ++rank) ranks.push_back(rank);
    analysis = analyse(load_trace_text(chrome_trace(timeline, ranks, meta), "run.json"),
                       WindowChoice::kAuto);
  }

  Scenario scenario;
  Setup setup;
  Seconds step_time;
  Analysis analysis;
};

/// Nothing overlaps: every kernel runs alone.
const std::vector<std::string> kAlone = {
    "training.global_batch=8", "stack=reference", "engine.overlap.gather=false",
    "engine.overlap.all_reduce=false", "engine.overlap.broadcast=false"};

TEST(Calibrate, GivesBackTheTimesOfKernelsThatRanAlone) {
  const TracedRun run(kAlone);
  const Calibration calibration = calibrate(run.scenario, run.analysis, "mine");
  const Json json = Json::parse(calibration.profile.dump());
  const ComputeProfile compute = read_compute_profile(json, "mine.json");
  int gemms = 0, attentions = 0, kernels = 0;
  for (const ComputeWork& work : run.setup.graph().compute_works()) {
    const double expected = run.setup.compute().time(work).time.value;
    if (const GemmWork* gemm = work.gemm()) {
      ++gemms;
      const auto time = gemm->wgrad ? compute.weight_gemm(gemm->m, gemm->k, gemm->n)
                                    : compute.gemm(gemm->m, gemm->k, gemm->n);
      EXPECT_NEAR(time->time.value, expected, 1.1e-9);
    }
    if (const MemoryWork* kernel = work.memory(); kernel && work.bytes_by_owner.empty()) {
      ++kernels;
      EXPECT_NEAR(compute.memory(kernel->kernel, kernel->backward, work.bytes)->time.value,
                  expected, 1.1e-9);
    }
    if (const AttentionWork* core = work.attention()) {
      ++attentions;
      EXPECT_NEAR(
          compute
              .attention(core->sequence, core->batch, core->heads, core->head_dim, !core->backward)
              ->time.value,
          expected, 1.1e-9);
    }
  }
  EXPECT_GE(gemms, 8);
  EXPECT_GE(kernels, 10);
  EXPECT_EQ(attentions, 2);
  const CollectiveProfile collectives = read_collective_profile(json, "mine.json");
  int calls = 0;
  for (const CollectiveWork& work : run.setup.graph().collective_works()) {
    if (work.call.kind == CollectiveKind::kBroadcast || work.call.mesh.size() == 1) continue;
    const auto measured =
        collectives.lookup(work.call.kind, work.call.mesh.shape, 0, work.call.bytes);
    ASSERT_TRUE(measured.has_value());
    EXPECT_NEAR(measured->time.value, run.setup.collectives().time(work.call).time.value,
                0.02 * measured->time.value);
    ++calls;
  }
  EXPECT_GE(calls, 4);
}

TEST(Calibrate, ThePredictionFromItsProfileIsTheTracedStep) {
  const TracedRun run(kAlone);
  const std::string path = testing::TempDir() + "/calibrated.json";
  write_file(path, calibrate(run.scenario, run.analysis, "mine").profile.dump());
  std::vector<std::string> overrides = kAlone;
  overrides.push_back("cluster.profile=" + path);
  const TracedRun again(overrides);
  EXPECT_NEAR(again.step_time.value, run.step_time.value, 0.01 * run.step_time.value);
}

TEST(Calibrate, OtherTracesAreRefused) {
  const TracedRun run(kAlone);
  const Analysis foreign =
      analyse(load_traces({AMSP_SOURCE_DIR "/tests/traces/odd_inputs/good_baseline.json"}, {}),
              WindowChoice::kAuto);
  EXPECT_EQ(message_of([&] { calibrate(run.scenario, foreign, "x"); }), AMSP_SOURCE_DIR
            "/tests/traces/odd_inputs/good_baseline.json: has no task keys "
            "(args.sk): only traces of our own programs say what their kernels did");
}

}  // namespace
}  // namespace amsp
