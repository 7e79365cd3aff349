#include <gtest/gtest.h>

#include "lowering/lowering.h"
#include "sim/simulator.h"
#include "tests/lowering/small_cluster.h"

namespace amsp {
namespace {

/// Collectives that take 1 s, no link, and this share of their members' compute.
class Shares : public CollectiveModel {
 public:
  explicit Shares(std::optional<double> share) : share_(share) {}
  CollectiveTime time(const CollectiveCall& /*call*/) const override {
    return {Seconds{1}, Source::kMeasured, false, share_};
  }
  std::vector<LinkLoad> loads(const CollectiveCall& /*call*/, int /*group*/) const override {
    return {};
  }
  int load_pattern(const CollectiveCall& /*call*/) const override { return 0; }

 private:
  std::optional<double> share_;
};

/// A step of 1 s of compute and, at once, a gather of 1 s, on the two GPUs of a node of which a
/// collective holds 20 of 100 SMs.
Seconds step_time(std::optional<double> share) {
  TaskGraph graph;
  graph.dp = {2, 1};
  graph.owner_mesh = sub_mesh({2, 1});
  const StreamId compute = graph.add_stream({"compute", {}});
  const StreamId gather = graph.add_stream({"gather 2x1", sub_mesh({2, 1})});
  const auto mark = [&](int step, const std::vector<TaskId>& deps) {
    return graph.add({{step, -1, Phase::kMark, -1, Module::kNone, -1, Op::kStepBegin},
                      compute,
                      WorkKind::kMarker,
                      -1},
                     deps);
  };
  ComputeWork work;
  work.launches = 0;             // no gap before it
  work.bytes = 0.8 * 100'000e9;  // at 80 % of the HBM's rate
  graph.window_begin = mark(1, {});
  const TaskId computed = graph.add({{1, 0, Phase::kForward, 1, Module::kNone, -1, Op::kForward},
                                     compute,
                                     WorkKind::kCompute,
                                     graph.add_work(work)},
                                    {});
  const CollectiveWork call{{CollectiveKind::kAllGather, sub_mesh({2, 1}), 1_B, {}}, 2, {}};
  const TaskId gathered = graph.add({{1, 0, Phase::kForward, 2, Module::kNone, -1, Op::kAllGather},
                                     gather,
                                     WorkKind::kCollective,
                                     graph.add_work(call)},
                                    {});
  graph.window_end = mark(2, {computed, gathered});

  ClusterSpec spec = small_cluster(1);
  spec.gpu.hbm_bandwidth = 100'000_GBps;
  const ClusterGraph cluster(spec);
  const Shares collectives(share);
  const ComputeModel kernels(spec.gpu, nullptr, nullptr);
  const Lowering lowering(graph, cluster, collectives, kernels);
  return simulate_every_rank(lowering).timeline.step_time();
}

TEST(ComputeShare, BothSlowDownUntilTheyFit) {
  EXPECT_NEAR(step_time(0.0).value, 1, 1e-9);
  EXPECT_NEAR(step_time(0.5).value, 1.5, .015);
  EXPECT_NEAR(step_time(1.0).value, 2, .02);
}

TEST(ComputeShare, IsTheSmsOfTheNodeWhereNothingWasMeasured) {
  EXPECT_NEAR(step_time({}).value, 1.2, .012);
}

}  // namespace
}  // namespace amsp
