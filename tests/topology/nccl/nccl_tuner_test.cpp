#include <fmt/core.h>
#include <gtest/gtest.h>

#include <ostream>

#include "core/error.h"
#include "tests/topology/nccl/nccl_clusters.h"
#include "topology/nccl/collectives.h"
#include "topology/nccl/tuner.h"

namespace amsp {
namespace {

using enum NcclAlgorithm;
using enum NcclProtocol;
using nccl::Choice;

constexpr auto kAr = CollectiveKind::kAllReduce;
constexpr auto kAg = CollectiveKind::kAllGather;
constexpr auto kRs = CollectiveKind::kReduceScatter;
constexpr auto kBc = CollectiveKind::kBroadcast;

/// What NCCL's time model estimates, in microseconds, for standard nodes of 8 GPUs.
///
/// Where the figures come from: the formulas and tables of NCCL 2.28.9's sources (release 2.28.9-1;
/// ncclTopoTuneModel and ncclTopoGetAlgoTime in src/graph/tuning.cc), evaluated apart from this
/// program and rounded to whole microseconds, hence the tolerance of 0.2 %. The channels that go
/// into them (count x GB/s: A100 12x20 in a node, 8x24 over 8 HDR NICs; H100 12x30, NVLS 8x40, 8x48
/// over 8 NDR NICs) are what src/graph/search.cc finds for such nodes. No running NCCL printed any
/// of them; how far from measurements NCCL's model is, nccl_measured_test.cpp says.
///
/// By hand, one of each kind (64 MiB):
///   A100_8x1_AR  ring, Simple: 12 x 20 GB/s x 8/14 steps = 137.1 GB/s -> 489.3 us,
///                and 8.4 + 14 x 3.4 us: 545
///   A100_8x4_AR  ring, LL128: min(.92 x 8 x 24, 8 x 20) x 32/62 = 82.6 GB/s -> 812.6 us,
///                and 14 + 56 x max(1.9, AMD's 2) + 6 x 4 us: 963
///   H100_8x4_AR  NVLS tree: 8 x min(2 x .85 x 40 x 7/8, 48, 45.5) x 32/62 = 187.9 GB/s
///                -> 357.2 us, and 25 + 2 x log2(4) x 20.9 us: 466
struct Worked {
  const char* name;
  ClusterSpec cluster;
  CollectiveKind kind;
  double us[3];      // 64 MiB, 256 MiB, 1 GiB
  Choice choice[3];  // where known
};

std::ostream& operator<<(std::ostream& out, const Worked& c) {
  return out << c.name;
}

constexpr Choice kRs1{kRing, kSimple}, kR128{kRing, kLl128}, kT128{kTree, kLl128},
    kTs{kTree, kSimple}, kNv{kNvls, kSimple}, kNvt{kNvlsTree, kSimple},
    kCd{kCollNetDirect, kSimple}, kCc{kCollNetChain, kSimple};

ClusterSpec with_sharp(ClusterSpec spec) {
  spec.nccl.sharp = true;
  return spec;
}

class NcclEstimates : public testing::TestWithParam<Worked> {};

TEST_P(NcclEstimates, AreThoseOfNccl) {
  const Worked& c = GetParam();
  const ClusterGraph graph(c.cluster);
  const Placement placement(c.cluster, Mesh{8, c.cluster.nodes}, 1);
  const NcclCollectives model(graph, placement);
  const SubMesh mesh = sub_mesh({8, c.cluster.nodes});
  for (int i = 0; i < 3; ++i) {
    const Bytes bytes{std::int64_t{1} << (26 + 2 * i)};
    const CollectiveCall call{c.kind, mesh, bytes, {}};
    const Choice choice = model.choose(call);
    EXPECT_EQ(to_string(choice), to_string(c.choice[i])) << bytes.value;
    const double us = nccl::estimate(c.kind, choice, bytes, model.layout(mesh), model.graphs(mesh),
                                     c.cluster.nccl)
                          .time(bytes)
                          .value *
                      1e6;
    EXPECT_NEAR(us / c.us[i], 1, .002) << bytes.value << " " << to_string(choice);
  }
}

INSTANTIATE_TEST_SUITE_P(
    , NcclEstimates,
    testing::Values(
        Worked{"A100_8x1_AR", a100_cluster(1), kAr, {545, 2013, 7885}, {kRs1, kRs1, kRs1}},
        Worked{"A100_8x1_AG", a100_cluster(1), kAg, {277, 1011, 3947}, {kRs1, kRs1, kRs1}},
        Worked{"A100_8x1_RS", a100_cluster(1), kRs, {277, 1011, 3947}, {kRs1, kRs1, kRs1}},
        Worked{"A100_8x1_BC", a100_cluster(1), kBc, {291, 1130, 4486}, {kRs1, kRs1, kRs1}},
        Worked{"A800_8x1_AR", a800_nccl_cluster(1, 4), kAr, {790, 2992, 11800}, {kRs1, kRs1, kRs1}},
        Worked{"A800_8x1_BC", a800_nccl_cluster(1, 4), kBc, {431, 1690, 6723}, {kRs1, kRs1, kRs1}},
        Worked{"A100_8x4_AR", a100_cluster(4), kAr, {963, 3309, 11435}, {kR128, kRs1, kRs1}},
        Worked{"A100_8x4_AG", a100_cluster(4), kAg, {488, 1573, 5636}, {kR128, kRs1, kRs1}},
        Worked{"A100_8x4_BC", a100_cluster(4), kBc, {561, 1820, 6049}, {kR128, kR128, kRs1}},
        Worked{
            "A100_4Hdr_8x4_AR", a100_cluster(4, 4), kAr, {1775, 6017, 22270}, {kR128, kRs1, kRs1}},
        Worked{"A800_8Hdr_8x4_AR",
               a800_nccl_cluster(4, 8),
               kAr,
               {1033, 3683, 13602},
               {kR128, kR128, kRs1}},
        Worked{"A100_8x64_AR", a100_cluster(64), kAr, {1251, 4155, 15313}, {kT128, kT128, kTs}},
        Worked{"A100_8x64_AG", a100_cluster(64), kAg, {1581, 2836, 7860}, {kR128, kR128, kR128}},
        Worked{"A100_4Hdr_8x64_AR",
               a100_cluster(64, 4),
               kAr,
               {2368, 8176, 29101},
               {kT128, kT128, kR128}},
        Worked{"H100_8x1_AR", h100_cluster(1), kAr, {272, 1012, 3973}, {kNv, kNv, kNv}},
        Worked{"H100_8x1_AG", h100_cluster(1), kAg, {195, 685, 2642}, {kRs1, kRs1, kRs1}},
        Worked{"H100_8x1_BC", h100_cluster(1), kBc, {198, 758, 2994}, {kRs1, kRs1, kRs1}},
        Worked{"H100_8x4_AR", h100_cluster(4), kAr, {466, 1537, 5814}, {kNvt, kNvt, kRs1}},
        Worked{"H100_8x4_AG", h100_cluster(4), kAg, {301, 823, 2854}, {kR128, kRs1, kRs1}},
        Worked{"H100_8x4_BC", h100_cluster(4), kBc, {371, 1056, 3253}, {kR128, kR128, kRs1}},
        Worked{"H100_8x64_AR", h100_cluster(64), kAr, {644, 1748, 6164}, {kNvt, kNvt, kNvt}},
        Worked{"H100_8x64_BC", h100_cluster(64), kBc, {2291, 2976, 5719}, {kR128, kR128, kR128}},
        Worked{"H100_8x4_AR_Sharp",
               with_sharp(h100_cluster(4)),
               kAr,
               {382, 1397, 5461},
               {kNv, kNv, kNv}},
        Worked{"A100_4Hdr_8x4_AR_Sharp",
               with_sharp(a100_cluster(4, 4)),
               kAr,
               {768, 2865, 11254},
               {kCc, kCc, kCc}},
        Worked{"A800_4Hdr_8x4_AR_Sharp",
               with_sharp(a800_nccl_cluster(4, 4)),
               kAr,
               {1093, 4238, 16821},
               {kCd, kCd, kCd}}),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace amsp
