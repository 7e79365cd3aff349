#include "profiling/import_logs.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "profiling/import_report.h"
#include "tests/core/message_of.h"
#include "tests/profiling/sample_logs.h"
#include "topology/profile/collective_profile.h"

namespace amsp {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

NcclLog log_of(const std::string& rows, const std::string& file) {
  return read_nccl_log("size count type redop root time algbw busbw #wrong\n" + rows, file);
}

/// all_gather on 2 GPUs; algbw and busbw follow from size and time in microseconds.
std::string row(std::int64_t bytes, double us) {
  const double algbw = static_cast<double>(bytes) / us / 1e3;
  return fmt::format("{} {} int8 none -1 {:.2f} {:.2f} {:.2f} 0\n", bytes, bytes / 2, us, algbw,
                     algbw / 2);
}

ImportOptions pair() {
  ImportOptions options = lab(2);
  options.kind = CollectiveKind::kAllGather;
  options.mesh = Mesh{2, 1};
  return options;
}

CollectiveProfile profile_of(const LogImport& imported) {
  return read_collective_profile(Json::parse(profile_text(profile_json(imported.profile))), "p");
}

TEST(ImportLogs, TakesTheMedianOfRepeatedSizes) {
  const LogImport imported = import_logs({log_of(row(1'000'000, 30) + row(2'000'000, 50), "a.log"),
                                          log_of(row(1'000'000, 20) + row(2'000'000, 60), "b.log"),
                                          log_of(row(1'000'000, 22), "c.log")},
                                         pair());
  const CollectiveProfile profile = profile_of(imported);
  ASSERT_EQ(profile.tables().size(), 1U);
  const auto& points = profile.tables()[0].points;
  ASSERT_EQ(points.size(), 2U);
  EXPECT_EQ(points[0].seconds, 22e-6);  // of 20, 22, 30
  EXPECT_EQ(points[1].seconds, 55e-6);  // of 50, 60
  EXPECT_EQ(
      imported.profile.provenance,
      "Measured: nccl-tests; out-of-place times; the median where a size was measured several "
      "times (up to 3); imported from a.log, b.log, c.log");
  EXPECT_EQ(imported.profile.tables[0].source, "a.log and b.log and c.log");
}

TEST(ImportLogs, DropsWhatTookLongerThanALargerMessage) {
  const LogImport imported = import_logs(
      {log_of(row(1000, 40) + row(2000, 30) + row(4000, 35) + row(8000, 34), "a.log")}, pair());
  const CollectiveProfile profile = profile_of(imported);
  const auto& points = profile.tables().at(0).points;
  ASSERT_EQ(points.size(), 2U);
  EXPECT_EQ(points[0].bytes, 2000);
  EXPECT_EQ(points[1].bytes, 8000);
  EXPECT_THAT(
      imported.notes,
      ElementsAre("all_gather on 2x1: 1000 bytes took longer than 2000 bytes, and are dropped",
                  "all_gather on 2x1: 4000 bytes took longer than 8000 bytes, and are dropped"));
  const OrderedJson json = profile_json(imported.profile);
  EXPECT_EQ(json["dropped"][1]["reason"], "slower than 8000 bytes (3.4e-05 s)");
}

TEST(ImportLogs, CapacitiesAreTheBestRates) {
  // 2 GB in 10 ms: half of it crosses the one hop
  const LogImport imported =
      import_logs({log_of(row(1'000'000'000, 6000) + row(2'000'000'000, 10000), "a.log")}, pair());
  EXPECT_DOUBLE_EQ(imported.profile.port.rate.value, 100e9);
  EXPECT_EQ(imported.profile.port.source, "bus bandwidth of all_gather on 2x1, 2000000000 bytes");
  EXPECT_EQ(imported.profile.nic.rate.value, 50e9);
  EXPECT_EQ(imported.profile.nic.source, "description of the hardware");

  const LogImport over_nodes = import_logs({sample_log("v2.17.9-size_0.log")}, lab(8));
  // 15/16 of 1 GiB in 7904.6 us, by 8 NICs
  EXPECT_DOUBLE_EQ(over_nodes.profile.nic.rate.value, 15.0 / 16 * 1073741824 / 7904.60e-6 / 8);
}

TEST(ImportLogs, InPlaceTimesAreTakenWhereAskedFor) {
  ImportOptions options = lab(8);
  options.in_place = true;
  const LogImport imported = import_logs({sample_log("json-1.json")}, options);
  EXPECT_THAT(imported.profile.provenance,
              HasSubstr("; in-place times; imported from json-1.json"));
  EXPECT_NEAR(imported.profile.tables.at(0).seconds.at(1048576), 0.99 * 57.318311e-6, 1e-11);
}

TEST(ImportLogs, ProvenanceNamesWhatTheLogsNameAndFiles) {
  const LogImport imported =
      import_logs({sample_log("nccl_info_between.log"), sample_log("json-1.json")}, lab(8));
  EXPECT_EQ(
      imported.profile.provenance,
      "Measured: nccl-tests, NCCL 2.21.5 and 2.28.9, on NVIDIA A100-SXM4-80GB and NVIDIA H100 "
      "80GB HBM3; out-of-place times; imported from nccl_info_between.log, json-1.json");
}

TEST(ImportLogs, TwoTestsOfOneFileAreTwoTables) {
  const LogImport imported = import_logs({sample_log("two_tests.log")}, lab(8));
  ASSERT_EQ(imported.tables.size(), 2U);
  EXPECT_EQ(imported.tables[0].kind, CollectiveKind::kAllGather);
  EXPECT_EQ(imported.tables[1].kind, CollectiveKind::kReduceScatter);
  EXPECT_THAT(imported.notes,
              ElementsAre("two_tests.log:25: 4 rows of alltoall left out: no task of "
                          "a training step does it"));
}

TEST(ImportLogs, GroupsThatAProfileCannotHoldAreNoted) {
  std::string split = sample_text("header_repeated.log");
  for (std::size_t at = 0; (at = split.find("Group  0 Pid   41", at)) != std::string::npos; ++at)
    if (split[at + 18] % 2 == 1) split[at + 7] = '1';
  const NcclLog good = sample_log("json-1.json");
  const LogImport imported = import_logs({good, read_nccl_log(split, "split.log")}, lab(8));
  EXPECT_EQ(imported.tables.size(), 1U);
  EXPECT_THAT(imported.notes, ElementsAre("split.log:1: left out: ran in 2 groups at once "
                                          "(NCCL_TESTS_SPLIT); a profile holds groups that run "
                                          "alone"));
}

/// Measured: together_h100_1n_ar_nvls of data/nccl.
constexpr const char* kNvlsRow = "1073741824 268435456 float sum -1 4018.59 267.19 467.59 0\n";

TEST(ImportLogs, FasterThanRingsIsReducedBySwitches) {
  ImportOptions options = lab(8);
  options.kind = CollectiveKind::kAllReduce;
  options.mesh = Mesh{8, 1};
  const NcclLog log = log_of(kNvlsRow, "nvls.log");
  const LogImport imported = import_logs({log}, options);  // NVLink: 450 GB/s
  EXPECT_EQ(imported.profile.tables[0].algorithm, NcclAlgorithm::kNvls);
  EXPECT_EQ(profile_json(imported.profile)["collectives"][0]["algorithm"], "nvls");
  EXPECT_THAT(imported.notes, ElementsAre("all_reduce on 8x1 reaches a bus bandwidth of 468 GB/s, "
                                          "more than rings can: switches reduced it (nvls)"));
  options.hardware.nvlink_bandwidth = 900_GBps;
  EXPECT_EQ(import_logs({log}, options).profile.tables[0].algorithm, NcclAlgorithm::kRing);
  options.ring_limit = 400_GBps;
  EXPECT_EQ(import_logs({log}, options).profile.tables[0].algorithm, NcclAlgorithm::kNvls);
  // over nodes: 8 NICs of 50 GB/s
  options = lab(8);
  options.kind = CollectiveKind::kAllReduce;
  options.mesh = Mesh{8, 4};
  const NcclLog sharp = log_of("1000000 250000 float sum -1 3.41 293.26 568.18 0\n", "sharp.log");
  EXPECT_EQ(import_logs({sharp}, options).profile.tables[0].algorithm,
            NcclAlgorithm::kCollNetChain);
}

/// Measured on 2 nodes of 8 A100 with 16 x 100 Gbps (Oracle BM.GPU.A100, NCCL 2.25).
TEST(ImportLogs, TwoNodesBeatRingsByATree) {
  ImportOptions options = lab(8);
  options.kind = CollectiveKind::kAllReduce;
  options.mesh = Mesh{8, 2};
  options.hardware.nic_bandwidth = 25_GBps;
  const LogImport imported = import_logs(
      {log_of("10737418240 2684354560 float sum -1 90330 118.87 222.88 0\n", "oci.log")}, options);
  EXPECT_EQ(imported.profile.tables[0].algorithm, NcclAlgorithm::kTree);
  EXPECT_THAT(
      imported.notes,
      ElementsAre("all_reduce on 8x2 reaches a bus bandwidth of 223 GB/s, more than rings can: a "
                  "tree over 2 nodes sends each byte once (tree)"));
}

TEST(ImportLogs, MoreThanTheDatasheetIsOtherHardware) {
  ImportOptions options = pair();
  options.hardware.nvlink_bandwidth = 20_GBps;
  EXPECT_EQ(
      message_of([&] { import_logs({log_of(row(2'000'000, 40), "a.log")}, options); }),
      "a.log: all_gather on 2x1 reaches a bus bandwidth of 25.0 GB/s, more than NVLink's 20.0 "
      "GB/s: is the hardware described right?");
}

TEST(ImportLogs, CapacitiesBelowTheMeasuredAreNoted) {
  const LogImport imported = import_logs({log_of(row(2'000'000, 40), "a.log")}, pair());
  ClusterSpec cluster;
  cluster.name = "c";
  cluster.node.nvlink_capacity = 20_GBps;
  cluster.node.nic_capacity = 1_GBps;  // nothing was measured there
  EXPECT_THAT(
      capacity_notes(imported, cluster),
      ElementsAre("node.nvlink.capacity of cluster 'c' is 20.0 GB/s, but 25.0 GB/s was "
                  "measured (bus bandwidth of all_gather on 2x1, 2000000 bytes): a scenario "
                  "has to state at least that"));
  cluster.node.nvlink_capacity = 26_GBps;
  EXPECT_THAT(capacity_notes(imported, cluster), ElementsAre());
}

TEST(ImportLogs, NamesThatAreNoUtf8AreReplaced) {
  std::string text = sample_text("rccl_out_of_place_only.log");
  text.replace(text.find("MI300A"), 6, "\xff\xfe 300");
  const LogImport imported = import_logs({read_nccl_log(text, "a.log")}, lab(4));
  EXPECT_THAT(profile_text(profile_json(imported.profile)), HasSubstr("Instinct \ufffd\ufffd 300"));
}

TEST(ImportLogs, ReportsSayWhatWasTaken) {
  const LogImport imported = import_logs({sample_log("json-1.json")}, lab(8));
  EXPECT_EQ(import_text(imported, ""),
            "operation   mesh  sizes     from       to  log rows  best bus bandwidth\n"
            "----------  ----  -----  -------  -------  --------  ------------------\n"
            "all_reduce   8x1      3  1.05 MB  1.07 GB         3            238 GB/s\n"
            "\n"
            "nothing is written; --output NAME.json writes the profile\n");
  const OrderedJson json = import_json(imported, "p.json");
  EXPECT_EQ(json["schema"], "amsp.import/1");
  EXPECT_EQ(json["profile"], "p.json");
  EXPECT_EQ(json["tables"][0]["most_bytes"], 1073741824);
}

}  // namespace
}  // namespace amsp
