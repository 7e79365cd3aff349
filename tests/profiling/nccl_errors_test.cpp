#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/core/message_of.h"
#include "tests/profiling/sample_logs.h"

namespace amsp {
namespace {

/// What importing a sample says after `from` (its first occurrence) was replaced by `to`.
std::string refusal(const std::string& name, const std::string& from, const std::string& to,
                    const ImportOptions& options = lab(8)) {
  std::string text = sample_text(name);
  const std::size_t at = text.find(from);
  if (at == std::string::npos) return "(the sample has no " + from + ")";
  text.replace(at, from.size(), to);
  return message_of([&] { import_logs({read_nccl_log(text, "x.log")}, options); });
}

ImportOptions of(CollectiveKind kind, ImportOptions options = lab(8)) {
  options.kind = kind;
  return options;
}

struct Edit {
  const char* name;
  const char* file;
  const char* from;
  const char* to;
  const char* message;  // the whole of it
};
class EditedLog : public testing::TestWithParam<Edit> {};

TEST_P(EditedLog, IsRefusedWithFileLineAndReason) {
  const Edit& edit = GetParam();
  EXPECT_EQ(refusal(edit.file, edit.from, edit.to), edit.message);
}

// The first row of mpirun-less samples is line 25 on two nodes and 17 on one:
//   1048576 262144 float sum -1  57.31  18.30  34.31  0 ...
INSTANTIATE_TEST_SUITE_P(
    , EditedLog,
    testing::Values(
        Edit{"AlgbwIsNotSizeByTime", "header_repeated.log", "18.30", "18.50",
             "x.log:30: has an algbw of 18.5 GB/s, but 1048576 bytes in 57.31 us are 18.296563 "
             "GB/s"},
        Edit{"BusbwHasAnotherFactor", "header_repeated.log", "34.31", "32.02",
             "x.log:30: has a busbw of 32.02 GB/s, 1.75 times 18.296563 GB/s; all_reduce on 16 "
             "ranks "
             "has 1.875"},
        Edit{
            "SizeIsNotCountTimesType", "v2.16-reduce_scatter.log", "bfloat16", "float",
            "x.log:17: 1048576 bytes are not 65536 x float of 4 bytes x 8 ranks, as reduce_scatter "
            "on 8 ranks has"},
        Edit{"ElementsAreWrong", "header_repeated.log", "34.31      0", "34.31      3",
             "x.log:30: has wrong results (#wrong 3), not to be trusted"},
        Edit{"AsterisksMarkErrors", "rccl_asterisks.log", "32.02      0", "32.02     1*",
             "x.log:18: has wrong results (#wrong 1), not to be trusted"},
        Edit{"FooterSaysFailed", "header_repeated.log", "values : 0 OK", "values : 7 FAILED",
             "x.log:34: Out of bounds values : 7 FAILED: wrong results, not to be trusted"},
        Edit{"TimeIsZero", "header_repeated.log", "  57.31", "   0.00", "x.log:30: has no time"},
        Edit{"TimeIsNoNumber", "header_repeated.log", "  57.31", "   oops",
             "x.log:30: the row of 1048576 bytes has \"oops\" for a time"},
        Edit{"ColumnsAreMissing", "header_repeated.log", "  57.31", "       ",
             "x.log:30: the row of 1048576 bytes has 9 columns after the type, not 10"},
        Edit{"OperationsInGroups", "v2.16-reduce_scatter.log", "agg iters: 1", "agg iters: 4",
             "x.log:1: times are means over groups of 4 operations (agg iters), not of one alone"},
        Edit{"TimesOfTheHost", "v2.16-reduce_scatter.log", "    time   algbw", " cputime   algbw",
             "x.log:1: times are the host's (cputime, -C), not the GPUs'"},
        Edit{"BesideOtherWork", "internal_header.log", "side_work: 0", "side_work: 2",
             "x.log:1: times were taken beside other work (side_work)"},
        Edit{"RanksShareAGpu", "v2.16-reduce_scatter.log", "[0000:20:00]", "[0000:0f:00]",
             "x.log:1: lists ranks 0 and 1 on the same GPU [0000:0f:00] of host 'node1'; give "
             "--mesh, GPUs per node x nodes such as 8x4"},
        Edit{"ARankIsMissing", "v2.16-reduce_scatter.log", "#  Rank  3", "#  Rink  3",
             "x.log:1: lists 7 ranks, not 0 to 6; give --mesh, GPUs per node x nodes such as 8x4"},
        Edit{"TwoTestsAtOnce", "header_repeated.log", "starting: all_reduce",
             "starting: all_gather",
             "x.log:1: names two tests, all_gather_perf and all_reduce_perf; give --op"},
        Edit{"TwoCopiesOnOneHost", "headers_twice_without_mpi.log", "node2", "node1",
             "x.log:1: lists ranks that don't go together; give --mesh, GPUs per node x nodes such "
             "as 8x4"},
        Edit{"JsonWithoutTime", "json-3.json", "\"time\"", "\"tame\"",
             "x.log#/results/0/out_of_place/time: is missing; is 'tame' a misspelling of it?"},
        Edit{"JsonOfAnotherVersion", "json-3.json", "\"version\": 3", "\"version\": 4",
             "x.log#/version: must be a whole number from 1 to 3, found 4"},
        Edit{"JsonWithWrongValues", "json-3.json", "\"count\": 0", "\"count\": 9",
             "x.log#/out_of_bounds: 9 values are out of bounds: wrong results, not to be trusted"},
        Edit{"JsonContradictsItself", "json-3.json", "\"time\": 57.318311", "\"time\": 57.318411",
             "x.log#/results/0: has an algbw of 18.29391 GB/s, but 1048576 bytes in 57.318411 us "
             "are "
             "18.293878 GB/s"}),
    [](const auto& edited) { return edited.param.name; });

TEST(ImportErrors, NameTheOptionThatSaysWhatTheLogDoesNot) {
  EXPECT_EQ(refusal("v2.13-all_reduce.log", "sum", "sum"),
            "x.log:1: does not say which operation it ran; give --op (all_gather, reduce_scatter, "
            "all_reduce or broadcast)");
  std::string bare = sample_text("v2.13-all_reduce.log");
  bare = bare.substr(bare.find("#       size"));
  EXPECT_EQ(message_of([&] {
              import_logs({read_nccl_log(bare, "bare.log")}, of(CollectiveKind::kAllReduce));
            }),
            "bare.log:1: lists no ranks; give --mesh, GPUs per node x nodes such as 8x4");
  ImportOptions told = of(CollectiveKind::kAllReduce);
  told.mesh = Mesh{8, 2};
  EXPECT_EQ(import_logs({read_nccl_log(bare, "bare.log")}, told).tables.size(), 1U);
  told.mesh = Mesh{4, 2};
  EXPECT_EQ(message_of([&] { import_logs({read_nccl_log(bare, "bare.log")}, told); }),
            "bare.log: nothing is left for a profile: bare.log:1: left out: a profile holds whole "
            "nodes of 8 GPUs, or groups inside one; this is 4x2");
  // the bandwidths tell that it ran on other ranks
  told.mesh = Mesh{8, 4};
  EXPECT_THAT(message_of([&] { import_logs({read_nccl_log(bare, "bare.log")}, told); }),
              testing::HasSubstr("all_reduce on 32 ranks has 1.938"));
}

TEST(ImportErrors, OptionsDoNotOverrideWhatTheLogSays) {
  ImportOptions options = of(CollectiveKind::kAllGather);
  EXPECT_EQ(refusal("header_repeated.log", "sum", "sum", options),
            "x.log:1: ran all_reduce; --op says all_gather");
  options = lab(8);
  options.mesh = Mesh{8, 4};
  EXPECT_EQ(refusal("header_repeated.log", "sum", "sum", options),
            "x.log:1: ran on 2 hosts of 8 ranks; --mesh says 8x4");
}

TEST(ImportErrors, OtherHardwareIsRefused) {
  EXPECT_EQ(refusal("header_repeated.log", "sum", "sum", lab(4)),
            "x.log:1: ran 8 ranks on a host; the hardware has 4 GPUs a node");
  ImportOptions options = lab(8);
  options.hardware.nics_per_node = 0;
  EXPECT_EQ(refusal("header_repeated.log", "sum", "sum", options),
            "x.log:1: ran on 2 hosts; the hardware has no NICs");
}

TEST(ImportErrors, TimesThatAreNotThereAreNotReplacedByOthers) {
  ImportOptions options = lab(8);
  options.in_place = true;
  EXPECT_EQ(refusal("rows_without_in_place.log", "float", "float", options),
            "x.log:17: has no in-place times; give --times out-of-place");
  EXPECT_EQ(refusal("rows_without_out_of_place.log", "float", "float"),
            "x.log:17: has no out-of-place times; give --times in-place");
}

TEST(ImportErrors, FilesThatAreNoLogs) {
  EXPECT_EQ(message_of([] { read_nccl_log("hello\n", "a.txt"); }),
            "a.txt: has no row of nccl-tests' results (size, count, type, ...)");
  EXPECT_EQ(message_of([] { read_nccl_log("", "a.txt"); }),
            "a.txt: has no row of nccl-tests' results (size, count, type, ...)");
  EXPECT_EQ(message_of([] { read_nccl_log("{\"a\": 1}", "a.json"); }),
            "a.json#: has no 'results': neither nccl-tests' text nor its JSON (-J)");
}

}  // namespace
}  // namespace amsp
