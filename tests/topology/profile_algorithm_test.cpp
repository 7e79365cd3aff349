#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/json/json.h"
#include "tests/core/message_of.h"
#include "tests/topology/nccl/nccl_clusters.h"
#include "topology/models/collective_models.h"

namespace amsp {
namespace {

/// 8 H100 on an NVSwitch, 8 NICs of 50 GB/s a node; all-reduce of 1 GB with these bus bandwidths.
CollectiveProfile profile(const std::string& mesh, double busbw, const std::string& algorithm,
                          const std::string& op = "all_reduce") {
  const int gpus = mesh == "8x1" ? 8 : 16;
  const std::string text = fmt::format(
      R"({{"schema": "amsp.profile/1", "name": "toy", "provenance": "invented",
  "hardware": {{"gpu": "GPU", "gpus_per_node": 8, "nvlink": "switch",
               "nvlink_bandwidth": "450GBps", "nics_per_node": 8, "nic_bandwidth": "50GBps"}},
  "capacities": {{"nic": {{"bytes_per_s": 48e9, "source": "row a"}},
                 "port": {{"bytes_per_s": 360e9, "source": "row b"}}}},
  "collectives": [{{"op": "{}", "mesh": "{}", "nics": {}{}, "source": "t",
                    "rows": [[1000000000, {}]]}}]}})",
      op, mesh, gpus > 8 ? 8 : 0,
      algorithm.empty() ? "" : fmt::format(", \"algorithm\": \"{}\"", algorithm),
      2.0 * (gpus - 1) / gpus / busbw);
  return read_collective_profile(parse_json(text, "p.json"), "p.json");
}

struct World {
  explicit World(int nodes) : graph(h100_cluster(nodes)), placement(graph.spec(), {8, nodes}, 1) {}
  ProfiledCollectives with(const CollectiveProfile& profile) const {
    return {profile, graph, placement};
  }
  ClusterGraph graph;
  Placement placement;
};

const CollectiveCall kInside{
    CollectiveKind::kAllReduce, sub_mesh({8, 1}), Bytes{1'000'000'000}, {}};
const CollectiveCall kOver{CollectiveKind::kAllReduce, sub_mesh({8, 2}), Bytes{1'000'000'000}, {}};

TEST(ProfileAlgorithm, SwitchesThatReduceLoadPortsLessThanRings) {
  const World world(1);
  const ProfiledCollectives model = world.with(profile("8x1", 480, "nvls"));
  // (n + 1) / n of the message each way, where a ring carries 2 (n - 1) / n
  for (const LinkLoad& load : model.loads(kInside, 0)) EXPECT_DOUBLE_EQ(load.bytes, 9.0 / 8 * 1e9);
  const ProfiledCollectives ring = world.with(profile("8x1", 300, ""));
  for (const LinkLoad& load : ring.loads(kInside, 0)) EXPECT_DOUBLE_EQ(load.bytes, 14.0 / 8 * 1e9);
  EXPECT_NE(model.load_pattern(kInside), ring.load_pattern(kInside));
}

TEST(ProfileAlgorithm, DecidesWhetherATimeIsPossible) {
  const World world(1);
  EXPECT_EQ(world.with(profile("8x1", 480, "nvls")).time(kInside).source, Source::kMeasured);
  // 1.75 GB at 370 GB/s
  EXPECT_EQ(message_of([&] { world.with(profile("8x1", 480, "ring")).time(kInside); }),
            "all_reduce of 1.00 GB on mesh 8x1 takes 3.646 ms by profile 'toy', but node0/gpu0 -> "
            "node0/nvswitch0 needs 4.730 ms for its 1.75 GB at its capacity of 370 GB/s (given by "
            "cluster 'switched'; the profile has 360 GB/s: row b)");
  // 1.125 GB at 370 GB/s take 3.041 ms: a bus bandwidth of 576 GB/s is the most
  EXPECT_EQ(world.with(profile("8x1", 575, "nvls")).time(kInside).source, Source::kMeasured);
  EXPECT_NE(message_of([&] { world.with(profile("8x1", 577, "nvls")).time(kInside); }),
            "(accepted)");
}

TEST(ProfileAlgorithm, SharpLoadsNicsOnce) {
  const World world(2);
  const ProfiledCollectives model = world.with(profile("8x2", 550, "collnet_chain"));
  int nics = 0;
  for (const LinkLoad& load : model.loads(kOver, 0)) {
    if (world.graph.link(load.link).kind != LinkKind::kNic) continue;
    EXPECT_DOUBLE_EQ(load.bytes, 1e9 / 8);
    ++nics;
  }
  EXPECT_EQ(nics, 2 * 2 * 8);  // both ways, of both nodes
}

TEST(ProfileAlgorithm, PartsOfNodesTakeWhatTheirNicsTake) {
  const World world(2);
  // one GPU of each node, one NIC: an eighth of the message of whole nodes is as much a NIC
  const CollectiveCall part{CollectiveKind::kAllReduce, {{1, 2}, {8, 1}}, Bytes{125'000'000}, {}};
  for (const char* algorithm : {"collnet_chain", "tree", "nvls_tree"}) {
    const ProfiledCollectives model = world.with(profile("8x2", 380, algorithm));
    EXPECT_DOUBLE_EQ(model.time(part).time.value, model.time(kOver).time.value) << algorithm;
    EXPECT_EQ(model.time(part).source, Source::kDerived);
    for (const LinkLoad& load : model.loads(part, 0))
      if (world.graph.link(load.link).kind == LinkKind::kNic) {
        EXPECT_DOUBLE_EQ(load.bytes, 125e6) << algorithm;
      }
  }
  EXPECT_FALSE(world.with(profile("8x1", 300, "")).covers(kOver));
}

TEST(ProfileAlgorithm, IsOneThatCanRunThere) {
  EXPECT_EQ(message_of([] { profile("8x1", 300, "collnet_chain"); }),
            "p.json#/collectives/0/algorithm: must be one of ring, tree, nvls; found "
            "\"collnet_chain\"");
  EXPECT_EQ(message_of([] { profile("8x2", 300, "pat"); }),
            "p.json#/collectives/0/algorithm: must be one of ring, tree, nvls, nvls_tree, "
            "collnet_direct, collnet_chain; found \"pat\"");
  EXPECT_EQ(message_of([] { profile("8x1", 300, "nvls", "all_gather"); }),
            "p.json#/collectives/0/algorithm: must be ring for all_gather, found \"nvls\"");
}

}  // namespace
}  // namespace amsp
