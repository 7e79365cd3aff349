#include "topology/profile/profile_writer.h"

#include <gtest/gtest.h>

#include "core/json/json.h"
#include "tests/topology/a800_cluster.h"

namespace amsp {
namespace {

constexpr auto kAG = CollectiveKind::kAllGather;
constexpr auto kAR = CollectiveKind::kAllReduce;

ProfileDraft draft() {
  ProfileDraft draft;
  draft.name = "toy";
  draft.provenance = "invented";
  draft.hardware = hardware_of(a800_cluster(2));
  draft.nic = {1_GBps, "said"};
  draft.port = {2_GBps, "said"};
  return draft;
}

TEST(ProfileWriter, WhatIsWrittenIsWhatIsRead) {
  ProfileDraft toy = draft();
  toy.tables = {{.kind = kAR,
                 .mesh = {8, 2},
                 .source = "b.log",
                 .seconds = {{1000, 1e-3}, {2000, 0.00073293 / 0.5}},
                 .compute_share = 0.123456},
                {kAG, {2, 1}, "a.log", {{500, 1.0 / 3}}}};
  toy.dropped = {{kAG, {2, 1}, 100, 2.5, 500, 1.0 / 3}};
  const std::string text = profile_text(profile_json(toy));
  EXPECT_EQ(text, R"json({
  "schema": "amsp.profile/1",
  "name": "toy",
  "provenance": "invented",
  "hardware": {"gpu":"A800-SXM4-80GB","gpus_per_node":8,"nvlink":"switch","nvlink_bandwidth":"200000000000B/s","nics_per_node":4,"nic_bandwidth":"25000000000B/s"},
  "capacities": {"nic":{"bytes_per_s":1000000000,"source":"said"},"port":{"bytes_per_s":2000000000,"source":"said"}},
  "collectives": [
    {"op":"all_gather","mesh":"2x1","nics":0,"source":"a.log","rows":[
      [500,0.333333333]
    ]},
    {"op":"all_reduce","mesh":"8x2","nics":4,"compute_share":0.1235,"source":"b.log","rows":[
      [1000,0.001],
      [2000,0.00146586]
    ]}
  ],
  "dropped": [
    {"op":"all_gather","mesh":"2x1","nics":0,"bytes":100,"seconds":2.5,"reason":"slower than 500 bytes (0.333333 s)"}
  ]
}
)json");
  const CollectiveProfile profile = read_collective_profile(parse_json(text, "p"), "p");
  ASSERT_EQ(profile.tables().size(), 2U);
  EXPECT_EQ(profile.lookup(kAR, {8, 2}, 4, Bytes{1000})->time, Seconds{1e-3});
  EXPECT_EQ(profile.lookup(kAR, {8, 2}, 4, Bytes{1000})->compute_share, 0.1235);
  EXPECT_EQ(profile.lookup(kAG, {2, 1}, 0, Bytes{500})->compute_share, std::nullopt);
  EXPECT_EQ(profile.hardware().nic_bandwidth, 25_GBps);
}

TEST(ProfileWriter, OtherTablesStandARowALine) {
  OrderedJson profile = {{"gemm", {{"columns", {"m", "k"}}, {"rows", {{1, 2}, {3, 4}}}}}};
  EXPECT_EQ(profile_text(profile), R"({
  "gemm": {"columns":["m","k"],"rows":[
    [1,2],
    [3,4]
  ]}
}
)");
}

TEST(ProfileWriter, RowsSlowerThanLargerOnesAreDropped) {
  ProfileDraft toy = draft();
  toy.tables = {{kAG, {2, 1}, "t", {{1, 5.0}, {2, 3.0}, {4, 4.0}, {8, 3.5}, {16, 6.0}}}};
  drop_falling_times(toy);
  EXPECT_EQ(toy.tables[0].seconds, (std::map<std::int64_t, double>{{2, 3.0}, {8, 3.5}, {16, 6.0}}));
  ASSERT_EQ(toy.dropped.size(), 2U);
  EXPECT_EQ(toy.dropped[0].bytes, 1);
  EXPECT_EQ(toy.dropped[0].larger_bytes, 2);
  EXPECT_EQ(toy.dropped[1].bytes, 4);
  EXPECT_EQ(toy.dropped[1].larger_seconds, 3.5);
}

TEST(ProfileWriter, BestRatesAreOfRings) {
  ProfileDraft toy = draft();
  toy.tables = {{kAG, {2, 1}, "t", {{1000, 1e-6}}},                         // 0.5 GB/s
                {kAR, {8, 2}, "t", {{1000, 1e-6}, {4000, 2e-6}}},           // 1.875 * 2 / 4 NICs
                {kAR, {8, 1}, "t", {{4000, 1e-6}}, NcclAlgorithm::kNvls}};  // 7 GB/s, no ring
  set_best_rates(toy);
  EXPECT_DOUBLE_EQ(toy.port.rate.value, 0.5e9);
  EXPECT_EQ(toy.port.source, "bus bandwidth of all_gather on 2x1, 1000 bytes");
  EXPECT_DOUBLE_EQ(toy.nic.rate.value, 1.875 * 2e9 / 4);
  EXPECT_EQ(toy.nic.source, "bus bandwidth of all_reduce on 8x2, 4000 bytes, divided by 4 NICs");
  EXPECT_DOUBLE_EQ(best_bus_bandwidth(toy.tables[2]).value, 7e9);
}

}  // namespace
}  // namespace amsp
