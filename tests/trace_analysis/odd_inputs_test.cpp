#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "core/error.h"
#include "core/json/json.h"
#include "tests/core/message_of.h"
#include "tests/trace_analysis/read_text.h"
#include "trace_analysis/report/summary.h"

namespace amsp {
namespace {

using testing::HasSubstr;

std::string folder() {
  return AMSP_SOURCE_DIR "/tests/traces/odd_inputs/";
}

Analysis read(const std::string& file, LoadOptions options = {}) {
  return analyse(load_traces({folder() + file}, options), WindowChoice::kAuto);
}

constexpr Nanoseconds kUs = 1000_ns;

/// Microseconds of one step.
struct Expected {
  double compute, communication, overlap, exposed;
};
void expect_parts(const StepParts& parts, const Expected& us) {
  const auto ns = [](double value) { return Nanoseconds{static_cast<std::int64_t>(value * 1000)}; };
  EXPECT_EQ(parts.compute, ns(us.compute));
  EXPECT_EQ(parts.communication, ns(us.communication));
  EXPECT_EQ(parts.overlapped, ns(us.overlap));
  EXPECT_EQ(parts.exposed, ns(us.exposed));
  EXPECT_EQ(parts.compute + parts.exposed + parts.memory_only + parts.idle, parts.window);
}

struct GoodFile {
  const char* file;
  Expected us;
  const char* kind;  // of repair, quarantine or doubt that must be noted once or more; or empty
  int count = 0;
};
std::ostream& operator<<(std::ostream& out, const GoodFile& test) {
  return out << test.file;
}

constexpr Expected kBaseline = {400, 300, 100, 200};
const GoodFile kGood[] = {
    {"good_baseline.json", kBaseline, ""},
    {"k80_invalid_utf8_name.json", kBaseline, "invalid UTF-8", 2},
    {"k105_bare_inf.json", kBaseline, "inf or nan", 1},
    {"k336_backslash_path.json", kBaseline, "invalid escape", 4},
    {"k888_bracket_in_traceName.json", kBaseline, ""},
    {"k109_ts0_kernels.json", kBaseline, "time 0", 2},
    {"h317_sub_us_kernels.json", {80, 0, 0, 0}, ""},
    {"h17_no_rank.json", kBaseline, ""},
    {"dup_rank_0.json", kBaseline, ""},
    {"dup_rank_1.json", kBaseline, ""},
    {"rank_in_args_first.json", kBaseline, ""},
    {"h16_no_runtime_events.json", kBaseline, ""},
    {"h76_three_steps.json", kBaseline, ""},
    {"c162_no_profilerstep.json", kBaseline, ""},
    {"h109_deepep_comm_names.json", {400, 500, 300, 200}, ""},
    {"h290_cudagraph_shared_corr.json", {200, 100, 50, 50}, ""},
    {"c178_nccl_no_metadata.json", {0, 100, 0, 100}, ""},
    {"pf4280_partial_overlap.json", {160, 0, 0, 0}, "kernels overlap on one stream", 1},
    {"pf371_children_first.json", {150, 0, 0, 0}, ""},
    {"pf426_epoch_fraction.json", {0.5, 0, 0, 0}, ""},
    {"pf1822_trailing_comma.json", kBaseline, "trailing comma", 1},
    {"toparray.json", kBaseline, ""},
    {"gz_without_suffix.json", kBaseline, ""},
    {"k1380_kernel_before_launch.json",
     {0, 50, 0, 50},
     "kernel starts before its launch (clock skew)",
     1},
    {"clock_rank0.json", {300, 400, 0, 400}, ""},
    {"clock_rank1.json", {400, 240, 0, 240}, ""},
    {"k1416_64bit_stream.json", {200, 0, 0, 0}, ""},
    {"tb_legacy_categories.json", {400, 0, 0, 0}, ""},
    {"diff_a.json", {960, 0, 0, 0}, ""},
    {"diff_b.json", {990, 0, 0, 0}, ""},
};

class OddInput : public testing::TestWithParam<GoodFile> {};

TEST_P(OddInput, ReadsAsTheManifestSays) {
  const Analysis analysis = read(GetParam().file);
  ASSERT_EQ(analysis.ranks(), 1U);
  for (const StepParts& parts : analysis.parts[0]) expect_parts(parts, GetParam().us);
  const auto count = [&](const std::string& kind) {
    return analysis.set.files[0].repairs.count(kind) + analysis.rank(0).quarantined.count(kind) +
           analysis.rank(0).doubts.count(kind);
  };
  const std::int64_t notes = analysis.set.files[0].repairs.total() +
                             analysis.rank(0).quarantined.total() + analysis.rank(0).doubts.total();
  EXPECT_EQ(count(GetParam().kind), GetParam().count);
  EXPECT_EQ(notes, GetParam().count) << "nothing else is noted";
}

INSTANTIATE_TEST_SUITE_P(, OddInput, testing::ValuesIn(kGood), [](const auto& test) {
  std::string name = test.param.file;
  return name.substr(0, name.find('.'));
});

struct BadFile {
  const char* file;
  const char* message;  // behind the path
};
const BadFile kBad[] = {
    {"p146900_unescaped_quotes.json",
     ":43:15: event 2: expected ',' or '}', found 'd' (--salvage skips such events)"},
    {"bz11863_truncated.json",
     ": incomplete file: the text ends at 85:10 inside event 4; 4 events recovered, "
     "--allow-partial uses them"},
    {"mad224_truncated.json.gz",
     ": incomplete file: the gzip data end early, the text ends at 84:21 inside event 4; at least "
     "4 "
     "events recovered, --allow-partial uses them"},
    {"empty.json", ": empty file"},
    {"cat3006_nested.json", ":1:17: traceEvents is not an array"},
};

TEST(OddInputs, SaysWhatIsWrongWithTheOthers) {
  for (const BadFile& bad : kBad)
    EXPECT_EQ(message_of([&] { read(bad.file); }), folder() + bad.file + bad.message);
}

TEST(OddInputs, AreAllTested) {
  std::set<std::string> tested;
  for (const GoodFile& good : kGood) tested.insert(good.file);
  for (const BadFile& bad : kBad) tested.insert(bad.file);
  std::set<std::string> listed;
  std::ifstream manifest(folder() + "MANIFEST.tsv");
  std::string line;
  std::getline(manifest, line);
  while (std::getline(manifest, line)) listed.insert(line.substr(0, line.find('\t')));
  EXPECT_EQ(tested, listed);
  EXPECT_EQ(listed.size(), 35U);
}

TEST(OddInputs, UnescapedQuotesCostOneEventInSalvageMode) {
  LoadOptions options;
  options.read.salvage = true;
  const Analysis analysis = read("p146900_unescaped_quotes.json", options);
  expect_parts(analysis.parts[0][0], {0, 300, 0, 300});
  EXPECT_EQ(analysis.set.files[0].rejected.total(), 1);
  EXPECT_THAT(summary_text(analysis), HasSubstr("43:15: event 2: expected ',' or '}', found 'd'"));
}

TEST(OddInputs, TruncatedFilesCountAsFarAsTheyGo) {
  LoadOptions options;
  options.read.allow_partial = true;
  const Analysis plain = read("bz11863_truncated.json", options);
  expect_parts(plain.parts[0][0], {400, 0, 0, 0});
  EXPECT_TRUE(plain.set.files[0].floor);
  EXPECT_THAT(summary_text(plain), HasSubstr(": at least 4 events"));
  const Analysis packed = read("mad224_truncated.json.gz", options);
  EXPECT_THAT(summary_text(packed), HasSubstr("incomplete: the gzip data end early"));
}

TEST(OddInputs, AnUnknownRankIsSaidToBe) {
  EXPECT_THAT(summary_text(read("h17_no_rank.json")), HasSubstr("rank unknown"));
}

TEST(OddInputs, WithoutStepMarkersThereIsOneImplicitStep) {
  const Analysis analysis = read("c162_no_profilerstep.json");
  EXPECT_EQ(analysis.windows[0].kind, "all GPU events (no step markers)");
  EXPECT_EQ(analysis.parts[0].at(0).window, 600 * kUs);
}

TEST(OddInputs, AllThreeStepsAreAnalysed) {
  EXPECT_EQ(read("h76_three_steps.json").parts[0].size(), 3U);
}

TEST(OddInputs, HostMetricsAreNotAvailableWithoutLaunches) {
  EXPECT_THAT(summary_text(read("h16_no_runtime_events.json")), HasSubstr("host metrics are n/a"));
}

TEST(OddInputs, CommunicationKnownByNameOnlyIsListed) {
  const std::string text = summary_text(read("h109_deepep_comm_names.json"));
  EXPECT_THAT(text, HasSubstr("void deep_ep::internode::dispatch<false, 8>(int4*)"));
  EXPECT_THAT(text, HasSubstr("void vllm::cross_device_reduce_2stage<__nv_bfloat16, 8>"));
}

TEST(OddInputs, OverlappingKernelsAreSummedApart) {
  const Analysis analysis = read("pf4280_partial_overlap.json");
  EXPECT_EQ(analysis.parts[0][0].compute_sum, 210 * kUs);
  EXPECT_THAT(summary_text(analysis), HasSubstr("sum of compute 210.000 us, busy 160.000 us"));
}

TEST(OddInputs, NegativeLaunchLatencyIsClockSkew) {
  EXPECT_THAT(summary_text(read("k1380_kernel_before_launch.json")),
              HasSubstr("launch latency -0.600 us"));
}

TEST(OddInputs, LegacyCategoriesAndTextualThreads) {
  const Analysis analysis = read("tb_legacy_categories.json");
  EXPECT_EQ(analysis.parts[0][0].memory, 10 * kUs);
  EXPECT_EQ(analysis.windows[0].steps.at(0).number, 2);
}

TEST(OddInputs, ClockOffsetFromTheEndsOfCollectives) {
  const Analysis analysis =
      analyse(load_traces({folder() + "clock_rank1.json", folder() + "clock_rank0.json"}, {}),
              WindowChoice::kAuto);
  const ClockEstimate& clock = analysis.joins.clocks.at(1);
  EXPECT_EQ(clock.offset, 850 * kUs);
  EXPECT_EQ(clock.spread, 0_ns);
  EXPECT_EQ(clock.low, 790 * kUs);   // start on rank 1 - end on rank 0 = 2350 - 1560
  EXPECT_EQ(clock.high, 950 * kUs);  // end on rank 1 - start on rank 0 = 2410 - 1460
  const RankTrace& first = analysis.rank(0);
  for (std::size_t i = 1; i < first.events.size(); ++i)
    EXPECT_EQ(waiting_time(analysis.set.ranks, analysis.joins, 0, static_cast<int>(i)), 40 * kUs);
  const TrafficShare& share = analysis.parts[0][0].by_kind.at("all_reduce");
  EXPECT_EQ(share.waiting, 4 * 40 * kUs);
  EXPECT_EQ(share.total - share.waiting, 4 * 60 * kUs);
}

}  // namespace
}  // namespace amsp
