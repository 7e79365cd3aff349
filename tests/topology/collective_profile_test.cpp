#include "topology/profile/collective_profile.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "core/json/json.h"
#include "topology/collective/collective.h"

namespace amsp {
namespace {

using testing::HasSubstr;

/// 4 GPUs per node, 2 NICs. Times are in round numbers: a pencil is enough.
constexpr const char* kToy = R"({
  "schema": "amsp.profile/1", "name": "toy", "provenance": "invented",
  "hardware": {"gpu": "G", "gpus_per_node": 4, "nvlink": "switch", "nvlink_bandwidth": "100GBps",
               "nics_per_node": 2, "nic_bandwidth": "10GBps"},
  "capacities": {"nic": {"bytes_per_s": 9e9, "source": "row a"},
                 "port": {"bytes_per_s": 90e9, "source": "row b"}},
  "collectives": [
    {"op": "all_gather", "mesh": "2x1", "nics": 0, "source": "t", "rows": [[1000, 1.0], [3000, 2.0]]},
    {"op": "all_gather", "mesh": "4x1", "nics": 0, "source": "t", "rows": [[1000, 2.0], [3000, 6.0]]},
    {"op": "all_gather", "mesh": "4x2", "nics": 2, "source": "t", "rows": [[1000, 4.0], [2000, 5.0]]},
    {"op": "all_gather", "mesh": "4x4", "nics": 2, "source": "t", "compute_share": 0.25,
     "rows": [[1000, 8.0], [2000, 9.0]]},
    {"op": "all_gather", "mesh": "4x2", "nics": 1, "source": "t", "rows": [[1000, 7.0]]},
    {"op": "all_reduce", "mesh": "4x2", "nics": 2, "source": "t", "rows": [[1000, 4.0]]},
    {"op": "all_reduce", "mesh": "4x4", "nics": 2, "source": "t", "rows": [[1000, 3.0]]},
    {"op": "reduce_scatter", "mesh": "2x1", "nics": 0, "source": "t", "substituted": "all_gather",
     "rows": [[1000, 1.0]]}
  ],
  "dropped": []
})";

CollectiveProfile toy() {
  return read_collective_profile(parse_json(kToy, "toy.json"), "toy.json");
}

CollectiveProfile a800() {
  const std::string path = AMSP_SOURCE_DIR "/data/profiles/a800-4xhdr.json";
  return read_collective_profile(read_json_file(path), path);
}

struct LookupCase {
  const char* name;
  CollectiveKind kind;
  Mesh mesh;
  int nics;
  std::int64_t bytes;
  double seconds;
  Source source;
  bool extrapolated;
};
class Lookup : public testing::TestWithParam<LookupCase> {};

TEST_P(Lookup, MatchesHandCalculation) {
  const LookupCase& c = GetParam();
  const auto found = toy().lookup(c.kind, c.mesh, c.nics, Bytes{c.bytes});
  ASSERT_TRUE(found.has_value());
  EXPECT_DOUBLE_EQ(found->time.value, c.seconds);
  EXPECT_EQ(found->source, c.source);
  EXPECT_EQ(found->extrapolated, c.extrapolated);
}

constexpr auto kAg = CollectiveKind::kAllGather;
constexpr auto kAr = CollectiveKind::kAllReduce;
constexpr auto kRs = CollectiveKind::kReduceScatter;
constexpr auto kMeasured = Source::kMeasured;
constexpr auto kDerived = Source::kDerived;

INSTANTIATE_TEST_SUITE_P(
    , Lookup,
    testing::Values(
        LookupCase{"OneGpu", kAg, {1, 1}, 2, 5000, 0, kMeasured, false},
        LookupCase{"OnARow", kAg, {2, 1}, 0, 3000, 2, kMeasured, false},
        // a quarter of the way from (1000, 2) to (3000, 6)
        LookupCase{"BetweenRows", kAg, {4, 1}, 0, 1500, 3, kMeasured, false},
        LookupCase{"BelowTheSmallest", kAg, {4, 1}, 0, 10, 2, kMeasured, true},
        // 6 s * 4500/3000
        LookupCase{"AboveTheLargest", kAg, {4, 1}, 0, 4500, 9, kMeasured, true},
        // the mean of 2x1 (1.5 at 2000 bytes) and 4x1 (4)
        LookupCase{"BetweenGroupsOfANode", kAg, {3, 1}, 0, 2000, 2.75, kDerived, false},
        LookupCase{"OverNodes", kAg, {4, 2}, 2, 1500, 4.5, kMeasured, false},
        LookupCase{"FewerNics", kAg, {4, 2}, 1, 1000, 7, kMeasured, false},
        // the mean of 4x2 (4.5 at 1500 bytes) and 4x4 (8.5)
        LookupCase{"BetweenNodeCounts", kAg, {4, 3}, 2, 1500, 6.5, kDerived, false},
        LookupCase{"BetweenNodeCountsBelowTheSmallest", kAg, {4, 3}, 2, 1, 6, kDerived, true},
        // 2 s more for each node: 8 + 2*(6-4)
        LookupCase{"BeyondTheLargestNodeCount", kAg, {4, 6}, 2, 1000, 12, kDerived, true},
        // the line falls from 4 s to 3 s, so the last row stands
        LookupCase{"BeyondNeverFaster", kAr, {4, 8}, 2, 1000, 3, kDerived, true},
        LookupCase{"StandIn", kRs, {2, 1}, 0, 1000, 1, kDerived, false}),
    [](const auto& test) { return test.param.name; });

TEST(CollectiveProfile, HasNoAnswerFarFromWhatWasMeasured) {
  const CollectiveProfile profile = toy();
  const auto found = [&](CollectiveKind kind, Mesh mesh, int nics) {
    return profile.lookup(kind, mesh, nics, Bytes{1000}).has_value();
  };
  EXPECT_FALSE(found(CollectiveKind::kBroadcast, {2, 1}, 0));  // operation missing
  EXPECT_FALSE(found(kAg, {2, 2}, 2));                         // no whole nodes
  EXPECT_FALSE(found(kAg, {4, 3}, 1));                         // one node count measured with 1 NIC
  EXPECT_FALSE(found(kAr, {2, 1}, 0));  // all_reduce was measured over nodes only
  EXPECT_FALSE(found(kAg, {6, 1}, 0));  // more GPUs than a node has
}

TEST(CollectiveProfile, ReadsHardwareAndCapacities) {
  const CollectiveProfile profile = toy();
  EXPECT_EQ(profile.name(), "toy");
  EXPECT_EQ(profile.hardware().gpus_per_node, 4);
  EXPECT_EQ(profile.hardware().nics_per_node, 2);
  EXPECT_EQ(profile.hardware().nic_bandwidth, 10_GBps);
  EXPECT_EQ(profile.nic_capacity().rate, 9_GBps);
  EXPECT_EQ(profile.port_capacity().source, "row b");
}

TEST(CollectiveProfile, SaysWhatItCovers) {
  EXPECT_EQ(toy().coverage(kAg), "2x1, 4x1, 4x2, 4x4 from 1.00 kB to 3.00 kB");
  EXPECT_EQ(toy().coverage(CollectiveKind::kBroadcast), "nothing");
  EXPECT_EQ(toy().coverage(kRs), "nothing");  // a stand-in is no measurement
}

TEST(CollectiveProfile, TheLargerOfTwoTablesGivesTheShareOfCompute) {
  const auto share = [](Mesh mesh) {
    return toy().lookup(kAg, mesh, 2, Bytes{1500})->compute_share;
  };
  EXPECT_EQ(share({4, 2}), std::nullopt);
  EXPECT_EQ(share({4, 3}), 0.25);
  EXPECT_EQ(share({4, 4}), 0.25);
  EXPECT_EQ(share({4, 5}), 0.25);
}

struct BadProfile {
  const char* found;    // text of the toy profile
  const char* instead;  // what replaces it
  const char* message;  // the whole message
};
const BadProfile kBadProfiles[] = {
    {R"("amsp.profile/1")", R"("amsp.profile/9")",
     R"(p.json#/schema: must be one of amsp.profile/1; found "amsp.profile/9"; did you mean 'amsp.profile/1'?)"},
    {R"("dropped")", R"("droped")",
     "p.json#/droped: is not a known key; did you mean 'dropped'? (allowed: attention, "
     "capacities, collectives, dropped, gemm, hardware, memory, name, provenance, schema)"},
    {R"("mesh": "4x4")", R"("mesh": "2x4")",
     R"(p.json#/collectives/3/mesh: must be kx1 with k up to 4, or 4xN, found "2x4")"},
    {R"("mesh": "4x4")", R"("mesh": "1x1")",
     R"(p.json#/collectives/3/mesh: must be a mesh of several GPUs such as "8x2", found "1x1")"},
    {R"("mesh": "4x4")", R"("mesh": "4x2")",
     "p.json#/collectives/3: is a second table of all_gather on 4x2"},
    {R"("compute_share": 0.25)", R"("compute_share": 1.01)",
     "p.json#/collectives/3/compute_share: must be a number from 0 to 1, found 1.01"},
    {R"([3000, 2.0])", R"([3000, "2"])",
     R"(p.json#/collectives/0/rows/1/1: must be a number above 0, found "2")"},
    {R"([3000, 2.0])", R"([3000.5, 2.0])",
     "p.json#/collectives/0/rows/1/0: must be a whole number above 0, found 3000.5"},
    {R"([3000, 2.0])", R"([3000])",
     "p.json#/collectives/0/rows/1: must be a row of 2 numbers, found [3000]"},
    {R"([3000, 2.0])", R"([1000, 2.0])",
     "p.json#/collectives/0/rows/1: bytes must grow from row to row"},
    {R"([3000, 2.0])", R"([3000, 0.5])",
     "p.json#/collectives/0/rows/1: time must not fall as bytes grow"},
    {R"([[1000, 1.0], [3000, 2.0]])", "[]",
     "p.json#/collectives/0/rows: must have at least 1 row, found 0"},
    {R"([[1000, 1.0], [3000, 2.0]])", "7", "p.json#/collectives/0/rows: must be a list, found 7"},
    {R"("nics": 1)", R"("nics": 3)",
     "p.json#/collectives/4/nics: must be a whole number from 1 to 2, found 3"},
    {R"("nvlink": "switch")", R"("nvlink": "switches")",
     R"(p.json#/hardware/nvlink: must be one of switch, direct, none; found "switches"; did you mean 'switch'?)"},
};

TEST(CollectiveProfile, RejectsBadInputAndSaysWhere) {
  for (const auto& [found, instead, message] : kBadProfiles) {
    std::string text = kToy;
    const std::size_t at = text.find(found);
    ASSERT_NE(at, std::string::npos) << found;
    text.replace(at, std::string(found).size(), instead);
    SCOPED_TRACE(fmt::format("{} -> {}", found, instead));
    try {
      read_collective_profile(parse_json(text, "p.json"), "p.json");
      ADD_FAILURE() << "was accepted";
    } catch (const ConfigError& error) {
      EXPECT_STREQ(error.what(), message);
    }
  }
}

// The measured file. Arithmetic from the published tables, in microseconds.

TEST(A800Profile, KeepsTheRowsOfTheTables) {
  const CollectiveProfile profile = a800();
  const auto time = [&](CollectiveKind kind, Mesh mesh, int nics, Bytes bytes) {
    return profile.lookup(kind, mesh, nics, bytes).value().time.value * 1e6;
  };
  EXPECT_NEAR(time(kAg, {2, 1}, 0, 64_MiB), 375.51, 1e-6);
  EXPECT_NEAR(time(CollectiveKind::kBroadcast, {8, 1}, 0, 1_GiB), 6903.59, 1e-6);
  // 2 * 511/512 * 2^30 B / (614.780/8 GB/s)
  EXPECT_NEAR(time(kAr, {8, 64}, 4, 1_GiB), 27890.2, 0.1);
  // 2 * 63/64 * 2^30 B / (193.776/8 GB/s)
  EXPECT_NEAR(time(kAr, {8, 8}, 1, 1_GiB), 87273.1, 0.1);
  // the mean of 22201.42 and 2 * 63/64 * 2^30 B / (761.198/8 GB/s) = 22216.8
  EXPECT_NEAR(time(kAr, {8, 8}, 4, 1_GiB), 22209.1, 0.1);
}

TEST(A800Profile, LeavesOutliersOut) {
  const auto slow = a800().lookup(kAr, {8, 32}, 4, 512_MiB).value();
  // the row says 20.3 ms; a third of the way from 256 MiB (7.001 ms) to 1 GiB (23.075 ms)
  EXPECT_NEAR(slow.time.value, 7.00124e-3 + (23.0750e-3 - 7.00124e-3) / 3, 1e-5);
  EXPECT_EQ(slow.source, kMeasured);
}

TEST(A800Profile, MarksReduceScatterAbove128GpusAsDerived) {
  const CollectiveProfile profile = a800();
  EXPECT_EQ(profile.lookup(kRs, {8, 16}, 4, 1_GiB)->source, kMeasured);
  const auto stand_in = profile.lookup(kRs, {8, 32}, 4, 1_GiB).value();
  EXPECT_EQ(stand_in.source, kDerived);
  EXPECT_EQ(stand_in.time, profile.lookup(kAg, {8, 32}, 4, 1_GiB)->time);
}

TEST(A800Profile, NoRowIsFasterThanTheCapacities) {
  const CollectiveProfile profile = a800();
  for (const auto& table : profile.tables()) {
    for (const auto& [bytes, seconds] : table.points) {
      const double rate = hop_share(table.kind, table.mesh.size()) * bytes / seconds;
      const double limit = table.nics > 0 ? table.nics * profile.nic_capacity().rate.value
                                          : profile.port_capacity().rate.value;
      EXPECT_LE(rate, limit) << to_string(table.kind) << ' ' << to_string(table.mesh) << ' '
                             << bytes;
    }
  }
}

TEST(A800Profile, CoversAllOperations) {
  const CollectiveProfile profile = a800();
  for (const auto kind : {kAg, kRs, kAr, CollectiveKind::kBroadcast}) {
    for (const Mesh mesh : {Mesh{2, 1}, Mesh{4, 1}, Mesh{8, 1}, Mesh{8, 2}, Mesh{8, 4}, Mesh{8, 8},
                            Mesh{8, 16}, Mesh{8, 32}, Mesh{8, 64}}) {
      const auto found = profile.lookup(kind, mesh, 4, 1_GiB);
      ASSERT_TRUE(found.has_value()) << to_string(kind) << ' ' << to_string(mesh);
      EXPECT_FALSE(found->extrapolated);
    }
  }
}

}  // namespace
}  // namespace amsp
