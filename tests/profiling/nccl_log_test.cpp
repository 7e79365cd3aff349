#include "profiling/nccl_log.h"

#include <gtest/gtest.h>

#include "core/error.h"
#include "profiling/nccl_run.h"
#include "tests/profiling/sample_logs.h"

namespace amsp {
namespace {

struct Variant {
  const char* file;
  const char* test;  // as the log names it; empty if it doesn't
  CollectiveKind kind;
  Mesh mesh;
  std::size_t rows;
  double first_us;  // out-of-place time of the first row
  bool has_in_place = true;
};
constexpr auto kAR = CollectiveKind::kAllReduce;
constexpr auto kAG = CollectiveKind::kAllGather;
constexpr auto kRS = CollectiveKind::kReduceScatter;
constexpr auto kBC = CollectiveKind::kBroadcast;

class NcclLogVariant : public testing::TestWithParam<Variant> {};

TEST_P(NcclLogVariant, GivesOperationMeshAndConsistentRows) {
  const Variant& variant = GetParam();
  const NcclLog log = sample_log(variant.file);
  EXPECT_TRUE(log.notes.empty());
  ASSERT_EQ(log.runs.size(), 1U);
  const NcclRun& run = log.runs.front();
  EXPECT_EQ(test_of(run).value_or(""), variant.test);
  const RunMesh mesh = mesh_of(run);
  ASSERT_TRUE(mesh.mesh) << mesh.unknown << mesh.unusable;
  EXPECT_EQ(*mesh.mesh, variant.mesh);
  EXPECT_EQ(run.rows.size(), variant.rows);
  EXPECT_DOUBLE_EQ(run.rows.front().out_of_place->time.value, variant.first_us / 1e6);
  for (const NcclRow& row : run.rows) {
    ASSERT_TRUE(row.out_of_place.has_value()) << row.place;
    EXPECT_EQ(row.in_place.has_value(), variant.has_in_place) << row.place;
    for (const auto& times : {row.out_of_place, row.in_place}) {
      if (!times) continue;
      EXPECT_EQ(contradiction(row, *times, variant.kind, variant.mesh.size()), "") << row.place;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    , NcclLogVariant,
    testing::Values(  // version 1 prints milliseconds
        Variant{"v1.0-all_reduce.log", "", kAR, {4, 1}, 3, 142},
        Variant{"v1.0-all_gather.log", "", kAG, {4, 1}, 3, 142},
        Variant{"v1.0-broadcast.log", "", kBC, {4, 1}, 3, 142, false},
        Variant{"v2.0-all_reduce.log", "", kAR, {4, 2}, 3, 98.4},
        Variant{"v2.0-all_gather.log", "", kAG, {4, 2}, 3, 98.4},
        Variant{"v2.0-reduce_scatter.log", "", kRS, {4, 2}, 3, 98.4},
        Variant{"v2.0-broadcast.log", "", kBC, {4, 2}, 3, 98.4},
        Variant{"v2.10-all_gather.log", "", kAG, {4, 2}, 3, 98.4},
        Variant{"v2.13-all_reduce.log", "", kAR, {8, 2}, 5, 175.9},
        Variant{"v2.14-broadcast.log", "", kBC, {8, 1}, 4, 57.31},
        Variant{"v2.16-reduce_scatter.log", "reduce_scatter", kRS, {8, 1}, 4, 57.31},
        Variant{"v2.17.3-all_gather.log", "all_gather", kAG, {8, 1}, 4, 2726.63},
        Variant{"v2.17.6-timestamps.log", "all_reduce", kAR, {8, 1}, 4, 57.31},
        Variant{"v2.17.9-size_0.log", "all_gather", kAG, {8, 2}, 4, 57.31},
        Variant{"v2.18-unalign.log", "reduce_scatter", kRS, {8, 4}, 3, 91.27},
        Variant{"v2.19.2-per_iteration.log", "all_reduce", kAR, {8, 1}, 4, 57.31},
        Variant{"json-1.json", "all_reduce", kAR, {8, 1}, 3, 57.318311},
        Variant{"json-2.json", "all_gather", kAG, {8, 2}, 3, 57.318311},
        Variant{"json-3.json", "reduce_scatter", kRS, {8, 2}, 3, 57.318311},
        Variant{"mpirun_tags.log", "all_reduce", kAR, {8, 2}, 4, 57.31},
        Variant{"mpirun_tags_in_rows.log", "all_reduce", kAR, {8, 2}, 4, 57.31},
        Variant{"srun_labels.log", "all_reduce", kAR, {8, 2}, 4, 57.31},
        Variant{"kubectl_timestamps.log", "all_reduce", kAR, {8, 2}, 4, 57.31},
        Variant{"lost_hashes.log", "all_reduce", kAR, {8, 2}, 4, 57.31},
        Variant{"indented.log", "all_reduce", kAR, {8, 2}, 4, 57.31},
        Variant{"nccl_info_between.log", "all_reduce", kAR, {8, 2}, 4, 57.31},
        Variant{"nccl_info_within.log", "all_reduce", kAR, {8, 2}, 4, 57.31},
        Variant{"internal_header.log", "all_reduce", kAR, {8, 2}, 4, 57.31},
        Variant{"swapped_columns.log", "all_reduce", kAR, {8, 2}, 4, 57.31},
        Variant{"command_line.log", "all_gather", kAG, {8, 1}, 4, 57.31},
        Variant{"header_repeated.log", "all_reduce", kAR, {8, 2}, 4, 57.31},
        Variant{"headers_twice_without_mpi.log", "all_reduce", kAR, {8, 1}, 8, 57.31},
        Variant{"rows_without_in_place.log", "all_gather", kAG, {8, 1}, 4, 57.31, false},
        Variant{"rccl_asterisks.log", "all_reduce", kAR, {8, 1}, 4, 57.31},
        Variant{"rccl_out_of_place_only.log", "all_reduce", kAR, {4, 1}, 2, 42.11, false}),
    [](const auto& variant) {
      std::string name = variant.param.file;
      name.resize(name.rfind('.'));
      for (char& c : name)
        if (c == '.' || c == '-') c = '_';
      return name;
    });

TEST(NcclLog, ReadsWhatARowHas) {
  const NcclLog log = sample_log("v2.13-all_reduce.log");
  const NcclRow& row = log.runs.front().rows.at(1);
  EXPECT_EQ(row.place, "v2.13-all_reduce.log:25");
  EXPECT_EQ(row.bytes, 1048576);
  EXPECT_EQ(row.count, 262144);
  EXPECT_EQ(row.type, "float");
  EXPECT_EQ(row.out_of_place->time.value, 309.4e-6);
  EXPECT_NEAR(row.out_of_place->time.unit, 0.1e-6, 1e-15);
  EXPECT_EQ(row.out_of_place->algbw.value, 3.39e9);
  EXPECT_EQ(row.out_of_place->wrong, 0);
}

TEST(NcclLog, ReadsWhatTheHeaderSays) {
  const NcclRun run = sample_log("v2.17.9-size_0.log").runs.at(0);
  EXPECT_EQ(run.tests_version, "2.17.9");
  EXPECT_EQ(run.ranks_per_process, 1);
  EXPECT_EQ(run.empty_rows, 3);
  EXPECT_FALSE(run.rows.front().out_of_place->wrong);  // N/A
  ASSERT_EQ(run.ranks.size(), 16U);
  EXPECT_EQ(run.ranks[9],
            (NcclRank{9, 0, 4109, "node2", 1, "0000:20:00", "NVIDIA H100 80GB HBM3"}));
  EXPECT_EQ(sample_log("nccl_info_between.log").runs.at(0).nccl_version, "2.21.5");
  EXPECT_EQ(sample_log("json-1.json").runs.at(0).nccl_version, "2.28.9");
}

TEST(NcclLog, TestsOfOneFileStayApart) {
  const NcclLog log = sample_log("two_tests.log");
  ASSERT_EQ(log.runs.size(), 3U);
  EXPECT_EQ(test_of(log.runs[0]), "all_gather");
  EXPECT_EQ(test_of(log.runs[1]), "alltoall");
  EXPECT_EQ(test_of(log.runs[2]), "reduce_scatter");
  for (const NcclRun& run : log.runs) EXPECT_EQ(run.rows.size(), 4U);
}

TEST(NcclLog, SecondHalvesAloneAreInPlaceTimes) {
  const NcclRun run = sample_log("rows_without_out_of_place.log").runs.at(0);
  EXPECT_FALSE(run.rows.front().out_of_place);
  EXPECT_EQ(run.rows.front().in_place->time.value, 56.74e-6);
}

TEST(NcclLog, BusesWithoutDomainMayBeAlike) {
  std::string text = sample_text("v2.0-all_reduce.log");
  for (std::size_t at = 0; (at = text.find("[0x", at)) != std::string::npos; ++at)
    text.replace(at, 6, "[0x00]");  // as virtual machines print them
  EXPECT_EQ(mesh_of(read_nccl_log(text, "x").runs.at(0)).mesh, (Mesh{4, 2}));
}

TEST(NcclLog, HalvesOfUnequalHeadsAreNotReadBeyondTheRow) {
  const std::string head = "size count type time algbw busbw time algbw busbw error\n";
  const std::string blanks(32, ' ');
  const NcclLog log = read_nccl_log(head + "8 2 float" + blanks + "1.00 0.01 0.01\n", "x");
  EXPECT_TRUE(log.runs.at(0).rows.at(0).out_of_place);
  const NcclLog second = read_nccl_log(head + "8 2 float" + blanks + "1.00 0.01 0.01 0\n", "x");
  EXPECT_TRUE(second.runs.at(0).rows.at(0).in_place);
}

TEST(NcclLog, RowsAreReadWithoutAnyHead) {
  const NcclLog log = read_nccl_log(
      "  1048576  262144  float  sum  -1  57.31  18.30  34.31  0  56.74  18.48  34.65  0\n"
      "  2097152  524288  float  sum  100.0  20.97  39.32  0e+00  99.0  21.18  39.72  N/A\n"
      "  4194304  1048576  float  200.0  20.97  39.32  0\n",
      "x");
  ASSERT_EQ(log.runs.size(), 1U);
  ASSERT_EQ(log.runs[0].rows.size(), 3U);
  EXPECT_EQ(log.runs[0].rows[0].in_place->busbw.value, 34.65e9);
  EXPECT_EQ(log.runs[0].rows[1].out_of_place->time.value, 100e-6);
  EXPECT_FALSE(log.runs[0].rows[2].in_place);
  EXPECT_EQ(mesh_of(log.runs[0]).unknown, "lists no ranks");
}

TEST(NcclLog, ScientificNotationKnowsItsDigits) {
  const Printed time = parse_printed("1.2e+08").value();
  EXPECT_EQ(time.value, 1.2e8);
  EXPECT_NEAR(time.unit, 1e7, 1);
  EXPECT_FALSE(parse_printed("N/A"));
  EXPECT_FALSE(parse_printed("1.0x"));
  EXPECT_FALSE(parse_printed("inf"));
}

TEST(NcclLog, WhatTheFileEndsWithinIsNoted) {
  std::string text = sample_text("v2.13-all_reduce.log");
  text.resize(text.find("7201") + 2);
  const NcclLog log = read_nccl_log(text, "cut.log");
  EXPECT_EQ(log.runs.at(0).rows.size(), 3U);
  ASSERT_EQ(log.notes.size(), 1U);
  EXPECT_EQ(log.notes[0], "cut.log:27: the file ends within the row of 268435456 bytes");
}

/// Cut after every line, and within lines: an answer or an error that names the file.
TEST(NcclLog, EveryTruncationIsReadOrRefused) {
  int read = 0, refused = 0;
  for (const char* name :
       {"v1.0-all_reduce.log", "v2.0-broadcast.log", "v2.13-all_reduce.log",
        "v2.17.6-timestamps.log", "v2.17.9-size_0.log", "v2.19.2-per_iteration.log",
        "mpirun_tags_in_rows.log", "nccl_info_within.log", "lost_hashes.log",
        "headers_twice_without_mpi.log", "two_tests.log", "rccl_out_of_place_only.log",
        "swapped_columns.log", "json-1.json", "json-2.json"}) {
    const std::string text = sample_text(name);
    for (std::size_t end = 0; end < text.size(); ++end) {
      if (text[end] != '\n' && end % 7 != 0) continue;
      try {
        std::vector<NcclLog> logs;
        logs.push_back(read_nccl_log(text.substr(0, end), name));
        ImportOptions options = lab(8);
        options.kind = CollectiveKind::kAllReduce;
        import_logs(logs, options);
        ++read;
      } catch (const ConfigError& error) {
        EXPECT_EQ(std::string(error.what()).substr(0, std::string(name).size()), name);
        ++refused;
      }
    }
  }
  EXPECT_GT(read, 100);
  EXPECT_GT(refused, 100);
}

}  // namespace
}  // namespace amsp
