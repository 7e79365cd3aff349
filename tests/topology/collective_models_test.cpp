#include "topology/models/collective_models.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "core/json/json.h"
#include "tests/topology/a800_cluster.h"
#include "tests/topology/all_meshes.h"
#include "topology/collective/ring_latency.h"

namespace amsp {
namespace {

constexpr auto kAg = CollectiveKind::kAllGather;
constexpr auto kRs = CollectiveKind::kReduceScatter;
constexpr auto kAr = CollectiveKind::kAllReduce;
constexpr auto kBc = CollectiveKind::kBroadcast;
constexpr CollectiveKind kKinds[] = {kAg, kRs, kAr, kBc};

CollectiveProfile a800_profile() {
  const std::string path = AMSP_SOURCE_DIR "/data/profiles/a800-4xhdr.json";
  return read_collective_profile(read_json_file(path), path);
}

struct World {
  explicit World(const ClusterSpec& spec)
      : graph(spec), placement(spec, Mesh{spec.node.gpus, spec.nodes}, 1) {}
  RingCollectives modelled() const { return {graph, placement}; }
  ProfiledCollectives profiled() const { return {a800_profile(), graph, placement}; }

  ClusterGraph graph;
  Placement placement;
};

CollectiveCall call(CollectiveKind kind, const SubMesh& mesh, Bytes bytes) {
  return {kind, mesh, bytes, {}};
}

std::string error_of(const CollectiveModel& model, const CollectiveCall& what) {
  try {
    model.time(what);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "no error";
}

// --- rings without measurements

TEST(RingCollectives, AddsLatencyAndTheSlowestLink) {
  const World world(a800_cluster(2));
  const CollectiveTime time = world.modelled().time(call(kAr, sub_mesh({8, 2}), 1_GiB));
  // 30 steps, 2 of them over the network; 2 * 15/16 of 1 GiB, a quarter through each NIC
  const double latency = 8.4e-6 + 28 * 3.4e-6 + 2 * 14e-6;
  const double moving = 2 * 15.0 / 16 * 1073741824 / 4 / 24.3821e9;
  EXPECT_DOUBLE_EQ(time.time.value, latency + moving);
  EXPECT_EQ(time.source, Source::kModelled);
  EXPECT_FALSE(time.extrapolated);
}

TEST(RingCollectives, InsideANodeThePortIsTheLimit) {
  const World world(a800_cluster(2));
  // 7 hops fill the pipeline of a broadcast
  EXPECT_DOUBLE_EQ(world.modelled().time(call(kBc, sub_mesh({8, 1}), 1_GiB)).time.value,
                   8.4e-6 + 7 * 3.4e-6 + 1073741824 / 177.0384e9);
}

TEST(RingCollectives, GroupCallAddsALatencyForEachFurtherMessage) {
  const World world(a800_cluster(2));
  const RingCollectives model = world.modelled();
  CollectiveCall inside = call(kBc, sub_mesh({4, 1}), 4_MiB);
  const double one = model.time(inside).time.value;
  inside.bytes_by_root = {2_MiB, 1_MiB, 0_B, 1_MiB};
  EXPECT_NEAR(model.time(inside).time.value - one, 2 * (8.4e-6 + 3.4e-6), 1e-15);

  CollectiveCall over = call(kBc, quotient({8, 2}, {8, 1}), 4_MiB);
  const double alone = model.time(over).time.value;
  over.bytes_by_root = {2_MiB, 2_MiB};
  EXPECT_NEAR(model.time(over).time.value - alone, 8.4e-6 + 14e-6, 1e-15);
}

TEST(RingCollectives, TwiceTheNicHalvesTheBandwidthTerm) {
  const auto moving = [](double factor) {
    ClusterSpec spec = a800_cluster(4);
    spec.node.pcie_bandwidth = spec.node.pcie_capacity = 100_GBps;
    spec.node.nic_bandwidth = factor * spec.node.nic_bandwidth;
    spec.node.nic_capacity = factor * spec.node.nic_capacity;
    const World world(spec);
    const Seconds time = world.modelled().time(call(kAr, quotient({8, 4}, {8, 1}), 1_GiB)).time;
    return (time - ring_latency(kAr, {1, 4}, NvlinkKind::kSwitch)).value;
  };
  EXPECT_NEAR(moving(1) / moving(2), 2, 1e-12);
}

TEST(RingCollectives, WithoutNvlinkHopsAreSlower) {
  EXPECT_DOUBLE_EQ(ring_latency(kAg, {8, 1}, NvlinkKind::kNone).value, 8.4e-6 + 7 * 5.7e-6);
  EXPECT_DOUBLE_EQ(ring_latency(kAg, {8, 1}, NvlinkKind::kDirect).value, 8.4e-6 + 7 * 3.4e-6);
  EXPECT_EQ(ring_latency(kAr, {1, 1}, NvlinkKind::kSwitch).value, 0);
}

TEST(RingCollectives, AgreesWithTheMeasurementsOfLargeMessages) {
  const CollectiveProfile profile = a800_profile();
  const World world(a800_cluster(64));
  const RingCollectives model = world.modelled();
  std::vector<double> ratios;
  for (const auto& table : profile.tables()) {
    if (table.nics != 0 && table.nics != 4) continue;
    for (const auto& [bytes, seconds] : table.points) {
      if (bytes < 1e9) continue;
      const Bytes size{static_cast<std::int64_t>(bytes)};
      ratios.push_back(model.time(call(table.kind, sub_mesh(table.mesh), size)).time.value /
                       seconds);
    }
  }
  std::sort(ratios.begin(), ratios.end());
  RecordProperty("median", std::to_string(ratios[ratios.size() / 2]));
  RecordProperty("range", fmt::format("{:.3f} to {:.3f}", ratios.front(), ratios.back()));
  EXPECT_NEAR(ratios[ratios.size() / 2], 0.95, 0.01);
  EXPECT_GT(ratios.front(), 0.60);
  EXPECT_LT(ratios.back(), 1.06);
}

// --- measured profiles

TEST(ProfiledCollectives, ReadsCoveredMeshesOff) {
  const World world(a800_cluster(8));
  const ProfiledCollectives model = world.profiled();
  const auto time = model.time(call(kAr, sub_mesh({8, 1}), 1_GiB));
  EXPECT_DOUBLE_EQ(time.time.value, 12105.4e-6);
  EXPECT_EQ(time.source, Source::kMeasured);
  EXPECT_FALSE(time.extrapolated);
  EXPECT_EQ(model.time(call(kAr, sub_mesh({1, 1}), 1_GiB)).time.value, 0);
  EXPECT_EQ(model.time(call(kAr, sub_mesh({8, 8}), 0_B)).time.value, 0);
  EXPECT_TRUE(model.time(call(kAr, sub_mesh({8, 8}), 4_KiB)).extrapolated);
}

TEST(ProfiledCollectives, AnNvswitchMakesStridedGroupsAsGoodAsContiguousOnes) {
  const World world(a800_cluster(8));
  const ProfiledCollectives model = world.profiled();
  const auto strided = model.time(call(kBc, quotient({8, 1}, {4, 1}), 1_GiB));
  EXPECT_EQ(strided.time, model.time(call(kBc, sub_mesh({2, 1}), 1_GiB)).time);
  EXPECT_EQ(strided.source, Source::kMeasured);
}

TEST(ProfiledCollectives, NodesOfAGroupCountNotTheirDistance) {
  const World world(a800_cluster(8));
  const ProfiledCollectives model = world.profiled();
  const auto strided = model.time(call(kAr, quotient({8, 8}, {1, 4}), 1_GiB));
  EXPECT_EQ(strided.time, model.time(call(kAr, sub_mesh({8, 2}), 1_GiB)).time);
  EXPECT_EQ(strided.source, Source::kMeasured);
}

TEST(ProfiledCollectives, DerivesOtherMeshesFromEqualBytesPerNic) {
  const World world(a800_cluster(8));
  const ProfiledCollectives model = world.profiled();
  // 2x8 uses 2 NICs: 2 * 15/16 * 21 GiB / 2 = 2 * 63/64 * 40 GiB / 4; on 1x8, 2 * 7/8 * v / 1
  const auto two = model.time(call(kAr, quotient({8, 8}, {4, 1}), {21LL << 27}));
  EXPECT_DOUBLE_EQ(two.time.value,
                   model.time(call(kAr, sub_mesh({8, 8}), {40LL << 27})).time.value);
  EXPECT_EQ(two.source, Source::kDerived);
  EXPECT_FALSE(two.extrapolated);
  const auto one = model.time(call(kAr, quotient({8, 8}, {8, 1}), {9LL << 27}));
  EXPECT_DOUBLE_EQ(one.time.value,
                   model.time(call(kAr, sub_mesh({8, 8}), {32LL << 27})).time.value);
  // a contiguous part of the node: 4x8 has NICs 0 and 1, 31/32 * 63 / 2 = 63/64 * 124 / 4
  const auto four = model.time(call(kAg, sub_mesh({4, 8}), {63LL << 24}));
  EXPECT_DOUBLE_EQ(four.time.value,
                   model.time(call(kAg, sub_mesh({8, 8}), {124LL << 24})).time.value);
}

// The AMSP testbed, 64 GPUs (one group alone; sibling groups share NICs in the simulator).
TEST(ProfiledCollectives, MatchesHandChecksOfLlamaPlans) {
  const World world(a800_cluster(8));
  const ProfiledCollectives model = world.profiled();
  // 7B, P 1x1: 13.5 GB of gradients over 64 ranks: 0.28 s
  EXPECT_NEAR(model.time(call(kAr, sub_mesh({8, 8}), {13'500'000'000})).time.value, 0.28, 0.003);
  // 13B, P 4x1: 6.5 GB through 2 NICs each way: 2 * 15/16 * 6.5 / (95.2/2) = 0.256 s
  EXPECT_NEAR(model.time(call(kAr, quotient({8, 8}, {4, 1}), {6'500'000'000})).time.value, 0.256,
              0.003);
  // 7B, OS 8x1: 8 owners of 1.7 GB in a node: 13.6 GB / 157 GB/s = 0.087 s
  CollectiveCall owners = call(kBc, sub_mesh({8, 1}), {8 * 1'700'000'000LL});
  owners.bytes_by_root.assign(8, {1'700'000'000});
  EXPECT_NEAR(model.time(owners).time.value, 0.088, 0.002);
  // the same as one message, and 7 more launches of 11.8 us
  EXPECT_NEAR(
      (model.time(owners).time - model.time(call(kBc, sub_mesh({8, 1}), owners.bytes)).time).value,
      7 * 11.8e-6, 1e-12);
}

struct RuleErrors {
  std::vector<double> all;  // ascending, absolute
  double median() const { return all[all.size() / 2]; }
  double max() const { return all.back(); }
};

/// The rule of derived meshes, used on the groups that were measured with 1 and 2 NICs.
RuleErrors rule_errors(CollectiveKind kind, double least_bytes) {
  const CollectiveProfile profile = a800_profile();
  RuleErrors errors;
  for (const auto& table : profile.tables()) {
    if (table.kind != kind || (table.nics != 1 && table.nics != 2)) continue;
    for (const auto& [bytes, seconds] : table.points) {
      const Bytes same_per_nic{static_cast<std::int64_t>(bytes) * 4 / table.nics};
      const double predicted = profile.lookup(kind, table.mesh, 4, same_per_nic)->time.value;
      if (bytes >= least_bytes) errors.all.push_back(std::abs(predicted / seconds - 1));
    }
  }
  std::sort(errors.all.begin(), errors.all.end());
  return errors;
}

struct RuleCase {
  CollectiveKind kind;
  double least_bytes;
  double median, max;
};

TEST(ProfiledCollectives, RuleOfDerivedMeshesErrsByThisMuch) {
  const double mib64 = 1 << 26, gib = 1 << 30;
  for (const RuleCase& c : {RuleCase{kAg, mib64, 0.05, 0.25}, RuleCase{kAr, mib64, 0.02, 0.20},
                            RuleCase{kBc, mib64, 0.17, 0.94}, RuleCase{kAg, gib, 0.04, 0.12},
                            RuleCase{kAr, gib, 0.02, 0.07}, RuleCase{kBc, gib, 0.12, 0.35}}) {
    const RuleErrors errors = rule_errors(c.kind, c.least_bytes);
    const std::string name = fmt::format("{}_{}MiB", to_string(c.kind), c.least_bytes / mib64 * 64);
    RecordProperty(name, fmt::format("median {:.3f} max {:.3f}", errors.median(), errors.max()));
    EXPECT_LE(errors.median(), c.median) << name;
    EXPECT_LE(errors.max(), c.max) << name;
  }
}

// --- refusals

TEST(ProfiledCollectives, StrictRefusesWhatWasNotMeasured) {
  ClusterSpec spec = a800_cluster(8);
  spec.profile_strict = true;
  const World world(spec);
  const ProfiledCollectives model = world.profiled();
  EXPECT_EQ(error_of(model, call(kAr, sub_mesh({8, 8}), 1_GiB)), "no error");
  EXPECT_EQ(error_of(model, call(kAr, sub_mesh({1, 1}), 1_B)), "no error");
  const std::string covered =
      "for all_reduce it covers 2x1, 4x1, 8x1, 8x2, 8x4, 8x8, 8x16, 8x32, 8x64 from 524 kB to "
      "17.2 GB";
  EXPECT_EQ(error_of(model, call(kAr, quotient({8, 8}, {4, 1}), {6'500'000'000})),
            "profile 'a800-4xhdr' is strict, but the time of all_reduce of 6.50 GB on mesh 2x8/4x1 "
            "is derived; " +
                covered);
  // Small messages are latency: norms and scalars don't make a profile unusable.
  EXPECT_EQ(error_of(model, call(kAr, sub_mesh({8, 1}), 4_KiB)), "no error");
  EXPECT_EQ(error_of(model, call(kAr, sub_mesh({8, 1}), 64_GiB)),
            "profile 'a800-4xhdr' is strict, but the time of all_reduce of 68.7 GB on mesh 8x1 is "
            "extrapolated; " +
                covered);
}

TEST(ProfiledCollectives, AMissingOperationIsAnError) {
  Json json = read_json_file(AMSP_SOURCE_DIR "/data/profiles/a800-4xhdr.json");
  Json& tables = json["collectives"];
  for (std::size_t i = tables.size(); i-- > 0;)
    if (tables[i]["op"] == "broadcast") tables.erase(i);
  const World world(a800_cluster(4));
  const ProfiledCollectives model(read_collective_profile(json, "p.json"), world.graph,
                                  world.placement);
  EXPECT_EQ(error_of(model, call(kBc, quotient({8, 4}, {8, 1}), {64'000'000})),
            "profile 'a800-4xhdr' has no measurement for broadcast of 64.0 MB on mesh 1x4/8x1; for "
            "broadcast it covers nothing");
}

TEST(ProfiledCollectives, ATimeTooShortForALinkIsAnError) {
  ClusterSpec spec = a800_cluster(2);
  spec.node.nic_capacity = 20_GBps;
  const World world(spec);
  // 15/16 * 2 GiB / 4 NICs = 503 MB; measured 20.87 ms, so 24.1 GB/s
  EXPECT_EQ(error_of(world.profiled(), call(kAg, sub_mesh({8, 2}), 2_GiB)),
            "all_gather of 2.15 GB on mesh 8x2 takes 20.87 ms by profile 'a800-4xhdr', but "
            "node0/nic0 -> leaf0 needs 25.17 ms for its 503 MB at its capacity of 20.0 GB/s (given "
            "by cluster 'a800'; the profile has 24.4 GB/s: bus bandwidth of reduce_scatter on 8x2, "
            "4294967296 bytes, divided by 4 NICs)");
}

struct OtherHardware {
  void (*change)(ClusterSpec&);
  const char* difference;
};

TEST(CheckHardware, SaysWhatDiffersAndHowToGoOn) {
  EXPECT_NO_THROW(check_hardware(a800_profile(), a800_cluster(3)));
  const OtherHardware cases[] = {
      {[](ClusterSpec& s) { s.gpu.name = "H100"; }, "GPU is H100, measured with A800-SXM4-80GB"},
      {[](ClusterSpec& s) { s.node.gpus = 4; }, "GPUs per node is 4, measured with 8"},
      {[](ClusterSpec& s) { s.node.nvlink = NvlinkKind::kDirect; },
       "NVLink is direct, measured with switch"},
      {[](ClusterSpec& s) { s.node.nvlink_bandwidth = 300_GBps; },
       "NVLink bandwidth is 300 GB/s, measured with 200 GB/s"},
      {[](ClusterSpec& s) {
         s.node.nics = 8;
         s.node.nic_bandwidth = 50_GBps;
       },
       "NICs per node is 8, measured with 4; NIC bandwidth is 50.0 GB/s, measured with 25.0 GB/s"}};
  for (const auto& [change, difference] : cases) {
    ClusterSpec spec = a800_cluster(2);
    change(spec);
    try {
      check_hardware(a800_profile(), spec);
      ADD_FAILURE() << "was accepted: " << difference;
    } catch (const ConfigError& error) {
      EXPECT_EQ(
          error.what(),
          fmt::format(
              "profile 'a800-4xhdr' was measured on other hardware than cluster 'a800': {}; set "
              "\"profile\": \"none\" to model collectives instead",
              difference));
    }
  }
}

TEST(MakeCollectives, TakesTheProfileThatTheClusterNames) {
  ClusterSpec spec = a800_cluster(2);
  const CollectiveCall what = call(kAg, sub_mesh({8, 2}), 1_GiB);
  const auto source = [&] {
    const World world(spec);
    return make_collectives(world.graph, world.placement)->time(what).source;
  };
  EXPECT_EQ(source(), Source::kModelled);
  spec.profile = "a800-4xhdr";
  EXPECT_EQ(source(), Source::kMeasured);
  spec.profile = "a800-4hdr";
  try {
    source();
    ADD_FAILURE() << "was accepted";
  } catch (const ConfigError& error) {
    EXPECT_STREQ(error.what(),
                 "profile 'a800-4hdr' is not known; did you mean 'a800-4xhdr'? (known: "
                 "a800-4xhdr, none)");
  }
}

// --- both

class NoLinkIsUsedBeyondItsCapacity : public testing::TestWithParam<int> {};

TEST_P(NoLinkIsUsedBeyondItsCapacity, ByAnyGroupAlone) {
  const World world(a800_cluster(GetParam()));
  const RingCollectives modelled = world.modelled();
  const ProfiledCollectives profiled = world.profiled();
  const Mesh dp = world.placement.dp();
  for (const SubMesh& mesh : all_meshes(dp)) {
    for (const CollectiveKind kind : kKinds) {
      double seconds_per_byte = 0;  // loads are proportional to bytes
      for (int group = 0; group < dp.size() / mesh.size(); ++group)
        for (const auto& [link, bytes] : modelled.loads(call(kind, mesh, 1_GiB), group))
          seconds_per_byte = std::max(seconds_per_byte,
                                      bytes / 1073741824 / world.graph.link(link).capacity.value);
      for (Bytes size = 1_MiB; size <= 4_GiB; size += size) {
        const double least = seconds_per_byte * static_cast<double>(size.value);
        const CollectiveCall what = call(kind, mesh, size);
        EXPECT_GE(modelled.time(what).time.value, least * (1 - 1e-9)) << to_string(mesh);
        EXPECT_GE(profiled.time(what).time.value, least * (1 - 1e-9)) << to_string(mesh);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Nodes, NoLinkIsUsedBeyondItsCapacity, testing::Values(1, 2, 6, 8),
                         [](const auto& test) { return std::to_string(test.param); });

}  // namespace
}  // namespace amsp
