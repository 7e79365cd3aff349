#include <gtest/gtest.h>

#include <map>
#include <numeric>

#include "tests/topology/nccl/nccl_clusters.h"
#include "topology/nccl/collectives.h"
#include "topology/nccl/loads.h"
#include "topology/nccl/switch_tree.h"
#include "topology/nccl/trees.h"

namespace amsp {
namespace {

using enum NcclAlgorithm;

constexpr auto kAr = CollectiveKind::kAllReduce;
constexpr auto kAg = CollectiveKind::kAllGather;
constexpr auto kRs = CollectiveKind::kReduceScatter;

// --- trees

TEST(NcclTrees, AreThoseOfTwoTreeAlgorithms) {
  EXPECT_EQ(nccl::binary_tree(1), (std::vector<int>{-1}));
  EXPECT_EQ(nccl::binary_tree(4), (std::vector<int>{-1, 2, 0, 2}));
  EXPECT_EQ(nccl::binary_tree(8), (std::vector<int>{-1, 2, 4, 2, 0, 6, 4, 6}));
  EXPECT_EQ(nccl::binary_tree(6), (std::vector<int>{-1, 2, 4, 2, 0, 4}));
}

TEST(NcclTrees, EveryRankReachesTheRootAndNoneIsInnerTwice) {
  for (int size = 2; size <= 130; ++size) {
    const nccl::DoubleTree trees = nccl::double_tree(size);
    std::vector<int> inner(static_cast<std::size_t>(size), 0);
    for (const auto* parents : {&trees.first, &trees.second}) {
      std::vector<int> children(static_cast<std::size_t>(size), 0);
      int roots = 0;
      for (int rank = 0; rank < size; ++rank) {
        int steps = 0;
        for (int at = rank; at >= 0; at = (*parents)[static_cast<std::size_t>(at)])
          ASSERT_LE(steps++, 9) << size << " " << rank;
        const int parent = (*parents)[static_cast<std::size_t>(rank)];
        if (parent < 0)
          ++roots;
        else
          ++children[static_cast<std::size_t>(parent)];
      }
      EXPECT_EQ(roots, 1) << size;
      for (int rank = 0; rank < size; ++rank) {
        EXPECT_LE(children[static_cast<std::size_t>(rank)], 2) << size << " " << rank;
        // a root with its single child has the load of a leaf
        if (children[static_cast<std::size_t>(rank)] == 2) ++inner[static_cast<std::size_t>(rank)];
      }
    }
    for (const int count : inner) EXPECT_LE(count, 1) << size;
  }
}

TEST(NcclTrees, PatSendsEveryPieceOnce) {
  EXPECT_EQ(nccl::pat_pieces(8), (std::vector<int>{4, 2, 1}));
  EXPECT_EQ(nccl::pat_pieces(6), (std::vector<int>{3, 1, 1}));
  for (int size = 1; size < 100; ++size) {
    const std::vector<int> pieces = nccl::pat_pieces(size);
    EXPECT_EQ(std::accumulate(pieces.begin(), pieces.end(), 0), size - 1);
  }
}

// --- loads; all messages have 8000 bytes

struct World {
  explicit World(ClusterSpec cluster, Mesh dp = {0, 0})
      : spec(std::move(cluster)),
        graph(spec),
        placement(spec, dp.intra > 0 ? dp : Mesh{spec.node.gpus, spec.nodes}, 1),
        loads(graph, placement) {}

  std::map<std::string, double> of(NcclAlgorithm algorithm, CollectiveKind kind,
                                   const SubMesh& mesh) const {
    std::map<std::string, double> result;
    for (const auto& [link, bytes] : loads.of(algorithm, {kind, mesh, {8000}, {}}, 0))
      result[graph.link_name(link)] = bytes;
    return result;
  }

  ClusterSpec spec;
  ClusterGraph graph;
  Placement placement;
  nccl::Loads loads;
};

/// All links of the kind that loads name have the same load; how many there are.
int links_with(const std::map<std::string, double>& loads, const std::string& from,
               const std::string& to, double bytes) {
  int count = 0;
  for (const auto& [name, load] : loads) {
    const std::size_t arrow = name.find(" -> ");
    const bool matches = name.substr(0, arrow).find(from) != std::string::npos &&
                         name.substr(arrow + 4).find(to) != std::string::npos;
    if (!matches) continue;
    EXPECT_NEAR(load, bytes, 1e-9) << name;
    ++count;
  }
  return count;
}

TEST(NcclLoads, NvlsSendsOncePerPortAndTheResultOfItsPart) {
  const World world(h100_cluster(1));
  const auto all_reduce = world.of(kNvls, kAr, sub_mesh({8, 1}));
  EXPECT_EQ(all_reduce.size(), 16U);
  EXPECT_EQ(links_with(all_reduce, "gpu", "nvswitch", 8000 + 1000), 8);
  EXPECT_EQ(links_with(all_reduce, "nvswitch", "gpu", 8000 + 1000), 8);
  const auto gather = world.of(kNvls, kAg, sub_mesh({8, 1}));
  EXPECT_EQ(links_with(gather, "gpu", "nvswitch", 1000), 8);
  EXPECT_EQ(links_with(gather, "nvswitch", "gpu", 8000), 8);
  const auto scatter = world.of(kNvls, kRs, sub_mesh({4, 1}));
  EXPECT_EQ(links_with(scatter, "gpu", "nvswitch", 8000), 4);
  EXPECT_EQ(links_with(scatter, "nvswitch", "gpu", 2000), 4);
}

TEST(NcclLoads, FourSwitchesShareWhatOneCarries) {
  ClusterSpec spec = h100_cluster(1);
  spec.node.nvswitches = 4;
  const World four(spec);
  EXPECT_EQ(links_with(four.of(kNvls, kAr, sub_mesh({8, 1})), "gpu", "nvswitch", 9000 / 4.0), 32);
  const NcclCollectives split(four.graph, four.placement);
  const World one(h100_cluster(1));
  const NcclCollectives whole(one.graph, one.placement);
  for (const std::int64_t bytes : {1000LL, 1000000LL, 1000000000LL}) {
    const CollectiveCall call{kAr, sub_mesh({8, 1}), {bytes}, {}};
    EXPECT_DOUBLE_EQ(split.time(call).time.value, whole.time(call).time.value);
  }
}

TEST(NcclLoads, ATreeInANodeLoadsPortsAsARingDoes) {
  const World world(a100_cluster(1));
  // 7 hops of 8 chains of 1000 bytes, up and down, over 8 ports
  EXPECT_EQ(links_with(world.of(kTree, kAr, sub_mesh({8, 1})), "gpu", "nvswitch", 14 * 1000), 8);
}

TEST(NcclLoads, ATreeOverTwoNodesSendsTheMessageOnce) {
  const World world(a100_cluster(2));
  // each of 8 channels: half of its 1000 bytes up in one tree and down in the other
  EXPECT_EQ(links_with(world.of(kTree, kAr, sub_mesh({8, 2})), "nic", "leaf", 1000), 16);
  EXPECT_EQ(links_with(world.of(kNvlsTree, kAr, sub_mesh({8, 2})), "nic", "leaf", 1000), 16);
  // a ring: 2 * 15/16
  EXPECT_EQ(links_with(world.of(kRing, kAr, sub_mesh({8, 2})), "nic", "leaf", 1875), 16);
}

TEST(NcclLoads, ATreeOverFourNodesLoadsInnerNodesTwice) {
  const World world(h100_cluster(4));
  const auto loads = world.of(kNvlsTree, kAr, sub_mesh({8, 4}));
  // 0 - 2, 2 - 1, 2 - 3 and mirrored: nodes 0 and 3 have 2 edges, 1 and 2 four, of 500 bytes
  for (const int node : {0, 3})
    EXPECT_DOUBLE_EQ(loads.at("node" + std::to_string(node) + "/nic5 -> leaf0"), 1000);
  for (const int node : {1, 2})
    EXPECT_DOUBLE_EQ(loads.at("node" + std::to_string(node) + "/nic5 -> leaf0"), 2000);
}

ClusterSpec leaf_spine(ClusterSpec spec, int nodes_per_leaf) {
  spec.fabric = {.nodes_per_leaf = nodes_per_leaf,
                 .spines = 4,
                 .leaf_spine_bandwidth = spec.node.nic_bandwidth};
  return spec;
}

class InNetworkReduction : public testing::TestWithParam<NcclAlgorithm> {};

/// Four nodes on two leaves: 8 trees, one per NIC of a node, each with 1000 bytes.
TEST_P(InNetworkReduction, LoadsEachLinkOfATreeOnce) {
  const World world(leaf_spine(h100_cluster(4), 2));
  const auto loads = world.of(GetParam(), kAr, sub_mesh({8, 4}));
  EXPECT_EQ(links_with(loads, "nic", "leaf", 1000), 32);
  EXPECT_EQ(links_with(loads, "leaf", "nic", 1000), 32);
  // two trees per spine, and both nodes of a leaf share the way up
  EXPECT_EQ(links_with(loads, "leaf", "spine", 2000), 8);
  EXPECT_EQ(links_with(loads, "spine", "leaf", 2000), 8);
}

INSTANTIATE_TEST_SUITE_P(, InNetworkReduction,
                         testing::Values(kNvls, kCollNetDirect, kCollNetChain),
                         [](const auto& test) { return std::string(to_string(test.param)); });

TEST(NcclLoads, SharpGathersUpWhatIsBelowAndDownAll) {
  const World world(leaf_spine(h100_cluster(4), 2));
  const auto loads = world.of(kCollNetDirect, kAg, sub_mesh({8, 4}));
  EXPECT_EQ(links_with(loads, "nic", "leaf", 250), 32);
  EXPECT_EQ(links_with(loads, "leaf", "nic", 1000), 32);
  EXPECT_EQ(links_with(loads, "leaf", "spine", 2 * 500), 8);
  EXPECT_EQ(links_with(loads, "spine", "leaf", 2 * 1000), 8);
}

TEST(NcclLoads, CollNetDirectSendsEachHeadItsPart) {
  const World world(a100_cluster(2, 4));
  const auto loads = world.of(kCollNetDirect, kAr, sub_mesh({8, 2}));
  // GPUs 0, 2, 4, 6 are heads of 2000 bytes: 3 parts to the other heads, 7 results
  EXPECT_DOUBLE_EQ(loads.at("node0/gpu2 -> node0/nvswitch0"), 3 * 2000 + 7 * 2000);
  EXPECT_DOUBLE_EQ(loads.at("node0/gpu3 -> node0/nvswitch0"), 4 * 2000);
  EXPECT_DOUBLE_EQ(loads.at("node0/nvswitch0 -> node0/gpu3"), 4 * 2000);
}

TEST(NcclLoads, PatSendsAllButTheOwnPart) {
  const World world(a100_cluster(8));
  for (const CollectiveKind kind : {kAg, kRs})
    EXPECT_EQ(links_with(world.of(kPat, kind, quotient({8, 8}, {8, 1})), "nic", "leaf", 7000), 8);
}

TEST(SwitchTree, HangsAllNicsUnderTheNearestSwitch) {
  const World one(leaf_spine(h100_cluster(4), 4));
  const SwitchTree flat = switch_tree(one.graph, {one.graph.nic(0, 0), one.graph.nic(3, 0)}, 0);
  EXPECT_EQ(flat.branches.size(), 2U);  // both straight to the leaf
  const World two(leaf_spine(h100_cluster(4), 2));
  std::map<std::string, int> branches;
  for (const auto& [up, nics] :
       switch_tree(two.graph, {two.graph.nic(0, 0), two.graph.nic(1, 0), two.graph.nic(3, 0)}, 6)
           .branches)
    branches[two.graph.link_name(up)] = nics;
  EXPECT_EQ(branches, (std::map<std::string, int>{{"node0/nic0 -> leaf0", 1},
                                                  {"node1/nic0 -> leaf0", 1},
                                                  {"node3/nic0 -> leaf1", 1},
                                                  {"leaf0 -> spine2", 2},
                                                  {"leaf1 -> spine2", 1}}));
}

// --- no answer is faster than its links, and none has loads without a reason

TEST(NcclCollectives, NoTimeIsTooShortForALink) {
  std::vector<ClusterSpec> clusters = {a100_cluster(1), a100_cluster(4, 4),
                                       leaf_spine(h100_cluster(4), 2), b200_cluster(2),
                                       leaf_spine(b200_cluster(6), 2)};
  clusters.push_back(h100_cluster(2));
  clusters.back().node.nvlink = NvlinkKind::kDirect;
  clusters.push_back(h100_cluster(2));
  clusters.back().node.nvlink = NvlinkKind::kNone;
  for (ClusterSpec spec : clusters)
    for (const bool sharp : {false, true}) {
      spec.nccl.sharp = sharp;
      const World world(spec);
      const NcclCollectives model(world.graph, world.placement);
      const Mesh dp{8, spec.nodes};
      std::vector<SubMesh> meshes = {sub_mesh({8, 1}),     sub_mesh({2, 1}),
                                     sub_mesh(dp),         quotient(dp, {8, 1}),
                                     quotient(dp, {4, 1}), quotient({8, 1}, {4, 1})};
      for (const SubMesh& mesh : meshes)
        for (const CollectiveKind kind : {kAr, kAg, kRs, CollectiveKind::kBroadcast})
          for (const std::int64_t bytes : {1LL, 100000LL, 100000000LL, 10000000000LL}) {
            if (mesh.size() == 1) continue;
            const CollectiveCall call{kind, mesh, {bytes}, {}};
            const auto groups = process_groups(mesh, dp);
            for (const auto& candidate : model.candidates(call)) {
              if (candidate.obstacle) continue;
              for (int group = 0; group < static_cast<int>(groups.size()); ++group)
                for (const auto& [link, load] :
                     model.loads(call, candidate.choice.algorithm, group))
                  ASSERT_LE(load / world.graph.link(link).capacity.value,
                            candidate.time.value * (1 + 1e-9))
                      << to_string(candidate.choice) << " " << to_string(kind) << " of " << bytes
                      << " on " << to_string(mesh) << ": " << world.graph.link_name(link);
            }
          }
    }
}

}  // namespace
}  // namespace amsp
