#include "topology/collective/scaled_collectives.h"

#include <gtest/gtest.h>

#include "tests/topology/a800_cluster.h"
#include "topology/collective/ring_latency.h"
#include "topology/models/collective_models.h"

namespace amsp {
namespace {

constexpr CollectiveKind kKinds[] = {CollectiveKind::kAllGather, CollectiveKind::kReduceScatter,
                                     CollectiveKind::kAllReduce};

/// A model of a cluster, and what ScaledCollectives makes of it.
struct Scaling {
  ClusterGraph graph, scaled_graph;
  Placement placement;
  std::unique_ptr<CollectiveModel> nominal;
  ScaledCollectives model;

  Scaling(const ClusterSpec& spec, const HardwareScale& scale)
      : graph(spec),
        scaled_graph(scaled(spec, scale)),
        placement(spec, {spec.node.gpus, spec.nodes}, 1),
        nominal(make_collectives(graph, placement)),
        model(make_collectives(graph, placement), graph, scaled_graph, placement, scale.latency) {}
};

ClusterSpec cluster(bool profiled) {
  ClusterSpec spec = a800_cluster(4);
  if (profiled) spec.profile = "a800-4xhdr";
  return spec;
}

CollectiveCall call(CollectiveKind kind, const SubMesh& mesh, Bytes bytes) {
  return {kind, mesh, bytes, {}};
}

TEST(ScaledCollectives, ByNothingAreTheSame) {
  for (const bool profiled : {false, true}) {
    const Scaling scaling(cluster(profiled), {});
    for (const CollectiveKind kind : kKinds)
      for (const Mesh mesh : {Mesh{8, 1}, Mesh{8, 4}}) {
        const auto one = call(kind, sub_mesh(mesh), 256_MiB);
        EXPECT_EQ(scaling.model.time(one).time, scaling.nominal->time(one).time);
        EXPECT_EQ(scaling.model.time(one).source, scaling.nominal->time(one).source);
      }
  }
}

// Ring times are latency + bytes over the slowest link, so scaling a ring model's times has to give
// what the ring model says of the scaled cluster.
TEST(ScaledCollectives, OfRingsAreTheRingsOfTheScaledCluster) {
  for (const HardwareScale scale : {HardwareScale{0.5, 1, 1}, HardwareScale{1, 1.5, 1},
                                    HardwareScale{0.75, 0.5, 1}, HardwareScale{0.1, 1, 1}}) {
    const Scaling scaling(cluster(false), scale);
    const RingCollectives rings(scaling.scaled_graph, scaling.placement);
    for (const CollectiveKind kind : kKinds)
      for (const SubMesh& mesh :
           {sub_mesh({8, 1}), sub_mesh({8, 4}), quotient({8, 4}, {8, 1}), quotient({8, 4}, {4, 1})})
        for (const Bytes bytes : {1_MiB, 512_MiB}) {
          const auto one = call(kind, mesh, bytes);
          EXPECT_NEAR(scaling.model.time(one).time / rings.time(one).time, 1, 1e-6)
              << to_string(kind) << " on " << to_string(mesh);
        }
  }
}

// 1 GiB over 4 x HDR is bandwidth: half the bandwidth between nodes takes twice the time.
TEST(ScaledCollectives, MeasuredTimesFollowTheLinksThatBindThem) {
  const Scaling half_between(cluster(true), {1, 0.5, 1});
  const Scaling half_inside(cluster(true), {0.5, 1, 1});
  const auto between = call(CollectiveKind::kAllReduce, sub_mesh({8, 4}), 1024_MiB);
  const auto inside = call(CollectiveKind::kAllReduce, sub_mesh({8, 1}), 1024_MiB);
  const auto ratio = [](const Scaling& scaling, const CollectiveCall& one) {
    return scaling.model.time(one).time / scaling.nominal->time(one).time;
  };
  EXPECT_NEAR(ratio(half_between, between), 2, 0.02);
  EXPECT_EQ(ratio(half_between, inside), 1);
  EXPECT_NEAR(ratio(half_inside, inside), 2, 0.02);
  // four NICs of 24.3821 GB/s against half of NVLink's 177.0384 GB/s, which is now the slower
  EXPECT_NEAR(ratio(half_inside, between), 4 * 24.3821 / (177.0384 / 2), 2e-3);
  EXPECT_EQ(half_inside.model.time(inside).source, Source::kDerived);
}

TEST(ScaledCollectives, LatencyIsWhatAByteTakes) {
  const Scaling twice(cluster(true), {1, 1, 2});
  for (const CollectiveKind kind : kKinds) {
    const auto tiny = call(kind, sub_mesh({8, 4}), 4_B);
    EXPECT_NEAR(twice.model.time(tiny).time / twice.nominal->time(tiny).time, 2, 1e-6);
    const auto large = call(kind, sub_mesh({8, 4}), 1024_MiB);
    EXPECT_NEAR((twice.model.time(large).time - twice.nominal->time(large).time) /
                    twice.nominal->time(tiny).time,
                1, 1e-6);
  }
}

// Whatever the scale, a time is never too short for a link.
TEST(ScaledCollectives, NeverLoadALinkBeyondItsCapacity) {
  for (const HardwareScale scale :
       {HardwareScale{0.5, 1.5, 0.1}, HardwareScale{2, 0.5, 0.1}, HardwareScale{1, 1, 0.01}}) {
    const Scaling scaling(cluster(true), scale);
    for (const CollectiveKind kind : kKinds)
      for (const SubMesh& mesh : {sub_mesh({8, 1}), sub_mesh({8, 4}), quotient({8, 4}, {4, 1})})
        for (const Bytes bytes : {1_MiB, 64_MiB, 1024_MiB}) {
          const auto one = call(kind, mesh, bytes);
          const Seconds time = scaling.model.time(one).time;
          for (const LinkLoad& load : scaling.model.loads(one, 0))
            EXPECT_LE(load.bytes / scaling.scaled_graph.link(load.link).capacity.value,
                      time.value * (1 + 1e-9));
        }
  }
}

TEST(EvenBroadcasts, LoadEveryHopWithTheMean) {
  const ClusterSpec spec = cluster(false);
  const ClusterGraph graph(spec);
  const Placement placement(spec, {8, 4}, 1);
  const RingCollectives rings(graph, placement);
  const EvenBroadcasts even(std::make_unique<RingCollectives>(graph, placement));
  CollectiveCall broadcasts{CollectiveKind::kBroadcast, quotient({8, 4}, {8, 1}), 100_MiB, {}};
  broadcasts.bytes_by_root = {70_MiB, 0_B, 20_MiB, 10_MiB};
  EXPECT_EQ(even.time(broadcasts).time, rings.time(broadcasts).time);
  const auto by_root = rings.loads(broadcasts, 3);
  const auto evened = even.loads(broadcasts, 3);
  ASSERT_EQ(by_root.size(), evened.size());
  double sum_by_root = 0, sum_evened = 0, hop = 0;
  for (std::size_t i = 0; i < evened.size(); ++i) {
    EXPECT_EQ(by_root[i].link, evened[i].link);
    sum_by_root += by_root[i].bytes;
    sum_evened += evened[i].bytes;
    hop = std::max(hop, evened[i].bytes);
  }
  // four hops with all bytes less what their end sends: 3/4 in the mean
  EXPECT_NEAR(hop, 0.75 * static_cast<double>((100_MiB).value), 1);
  EXPECT_GT(sum_by_root, 0);
  // hops cross leaves or not, so sums agree only where every hop has links alike
  EXPECT_NEAR(sum_evened / sum_by_root, 1, 0.25);
  const auto gather = call(CollectiveKind::kAllGather, sub_mesh({8, 1}), 10_MiB);
  ASSERT_EQ(even.loads(gather, 0).size(), rings.loads(gather, 0).size());
  EXPECT_EQ(even.loads(gather, 0)[0].bytes, rings.loads(gather, 0)[0].bytes);
}

}  // namespace
}  // namespace amsp
