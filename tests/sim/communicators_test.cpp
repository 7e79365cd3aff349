#include <gtest/gtest.h>

#include "lowering/lowering.h"
#include "sim/simulator.h"
#include "tests/lowering/small_cluster.h"
#include "topology/models/collective_models.h"

namespace amsp {
namespace {

/// One node of 8 GPUs; per rank a compute task, then an all-reduce in groups of 4 on one
/// communicator and an all-gather of all 8 on another, both at once, then a mark.
struct TwoCommunicators {
  explicit TwoCommunicators(std::vector<double> compute_bytes) {
    graph.dp = {8, 1};
    graph.owner_mesh = sub_mesh({8, 1});
    const StreamId compute = graph.add_stream({"compute", {}});
    const StreamId fours = graph.add_stream({"reduce 4x1", sub_mesh({4, 1})});
    const StreamId eights = graph.add_stream({"gather 8x1", sub_mesh({8, 1})});
    ComputeWork work;
    for (const double bytes : compute_bytes) work.bytes += bytes / 8;
    work.bytes_by_owner = std::move(compute_bytes);
    const auto mark = [&](int step, std::vector<TaskId> deps) {
      return graph.add({{step, -1, Phase::kMark, -1, Module::kNone, -1, Op::kStepBegin},
                        compute,
                        WorkKind::kMarker,
                        -1},
                       deps);
    };
    graph.window_begin = mark(1, {});
    const TaskId first = graph.add({{1, 0, Phase::kBackward, 1, Module::kNone, -1, Op::kBackward},
                                    compute,
                                    WorkKind::kCompute,
                                    graph.add_work(work)},
                                   {});
    reduce = graph.add({{1, 0, Phase::kGradSync, -1, Module::kNone, 0, Op::kAllReduce},
                        fours,
                        WorkKind::kCollective,
                        graph.add_work(CollectiveWork{
                            {CollectiveKind::kAllReduce, sub_mesh({4, 1}), kReduced, {}}, 2, {}})},
                       std::vector<TaskId>{first});
    gather = graph.add({{1, 0, Phase::kForward, 1, Module::kNone, -1, Op::kAllGather},
                        eights,
                        WorkKind::kCollective,
                        graph.add_work(CollectiveWork{
                            {CollectiveKind::kAllGather, sub_mesh({8, 1}), kGathered, {}}, 2, {}})},
                       std::vector<TaskId>{first});
    graph.window_end = mark(2, {reduce, gather});
    spec.node.gpus = 8;
    spec.node.nic_of_gpu.assign(8, 0);
    spec.node.comm_sms_intra = 1;
    spec.gpu.hbm_bandwidth = 100'000_GBps;  // not what this is about
  }

  Timeline run(Playback (*play)(const Lowering&)) {
    cluster = std::make_unique<ClusterGraph>(spec);
    placement = std::make_unique<Placement>(spec, graph.dp, 1);
    collectives = make_collectives(*cluster, *placement);
    kernels = std::make_unique<ComputeModel>(spec.gpu, nullptr, nullptr);
    lowering = std::make_unique<Lowering>(graph, *cluster, *collectives, *kernels);
    return play(*lowering).timeline;
  }

  static constexpr Bytes kReduced{20'000'000'000};   // 2 * 3/4 of it over a port: 30 GB
  static constexpr Bytes kGathered{80'000'000'000};  // 7/8 of it: 70 GB
  TaskGraph graph;
  TaskId reduce{-1}, gather{-1};
  ClusterSpec spec = small_cluster(1);  // 100 GB/s a port
  std::unique_ptr<ClusterGraph> cluster;
  std::unique_ptr<Placement> placement;
  std::unique_ptr<CollectiveModel> collectives;
  std::unique_ptr<ComputeModel> kernels;
  std::unique_ptr<Lowering> lowering;
};

struct Simulation {
  const char* name;
  Playback (*play)(const Lowering&);
};

std::ostream& operator<<(std::ostream& out, const Simulation& simulation) {
  return out << simulation.name;
}

class Communicators8 : public testing::TestWithParam<Simulation> {};

TEST_P(Communicators8, FoursReduceWhileAllGather) {
  TwoCommunicators c(std::vector<double>(8, 1.0));
  const Timeline timeline = c.run(GetParam().play);
  // Each alone fills its ports, for 0.3 and 0.7 s. Together both run at half the pace for 0.6 s;
  // then the gather has 0.4 s left.
  for (Rank rank = 0; rank < 8; ++rank) {
    EXPECT_NEAR(timeline.span(c.reduce, rank).end.value, .6, .01);
    EXPECT_NEAR(timeline.span(c.gather, rank).end.value, 1, .01);
  }
}

TEST_P(Communicators8, GroupsThatAreReadyAtDifferentTimesFinishToo) {
  // Ranks 4 to 7 compute for a second more: the second group of 4 and the gather wait for them.
  std::vector<double> bytes(8, 1.0);
  for (std::size_t rank = 4; rank < 8; ++rank) bytes[rank] = .8 * 100e12;
  TwoCommunicators c(bytes);
  const Timeline timeline = c.run(GetParam().play);
  for (Rank rank = 0; rank < 4; ++rank)
    EXPECT_NEAR(timeline.span(c.reduce, rank).end.value, .3, .01);
  for (Rank rank = 4; rank < 8; ++rank) {
    EXPECT_NEAR(timeline.span(c.gather, rank).start.value, 1, .05);
    // as above on ports 4 to 7; the gather goes in lock step on the others
    EXPECT_NEAR(timeline.span(c.reduce, rank).end.value, 1.6, .05);
    EXPECT_NEAR(timeline.span(c.gather, rank - 4).end.value, 2, .05);
  }
}

INSTANTIATE_TEST_SUITE_P(, Communicators8,
                         testing::Values(Simulation{"Full", simulate_every_rank},
                                         Simulation{"Folded", simulate}),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace amsp
