#include "trace_reader/load_traces.h"

#include <gtest/gtest.h>

#include "core/error.h"
#include "tests/core/message_of.h"
#include "tests/trace_reader/event_text.h"

namespace amsp {
namespace {

std::string folder() {
  return AMSP_SOURCE_DIR "/tests/traces/odd_inputs/";
}

/// The only rank of a file.
RankTrace read(const std::string& file, const LoadOptions& options = {}) {
  return load_traces({folder() + file}, options).ranks.at(0);
}

TEST(LoadTraces, RanksComeFromDistributedInfoOnly) {
  EXPECT_EQ(read("rank_in_args_first.json").rank, 3);
  EXPECT_EQ(read("toparray.json").rank, std::nullopt);
  LoadOptions options;
  options.rank = 6;
  EXPECT_EQ(read("h17_no_rank.json", options).rank, 6);
}

TEST(LoadTraces, NoRankIsAnErrorBesideOtherFiles) {
  EXPECT_EQ(message_of([] {
              load_traces({folder() + "h17_no_rank.json", folder() + "good_baseline.json"}, {});
            }),
            folder() +
                "h17_no_rank.json: the rank is unknown: there is no distributedInfo.rank; name the "
                "files ..._rankN.json or give one file with --rank");
}

TEST(LoadTraces, TwoFilesOfOneRankAreNamed) {
  const std::string a = folder() + "dup_rank_0.json", b = folder() + "dup_rank_1.json";
  EXPECT_EQ(message_of([&] {
              load_traces({b, a}, {});
            }),
            "rank 0 is claimed by two traces: " + a + " and " + b);
}

TEST(LoadTraces, UnknownBytesAreUnknown) {
  const RankTrace trace = read("c178_nccl_no_metadata.json");
  EXPECT_EQ(trace.collectives.at(0).bytes, -1);
  EXPECT_EQ(trace.collectives.at(0).op, "all_gather");
  EXPECT_EQ(trace.events.at(0).evidence, Evidence::kName);
}

TEST(LoadTraces, OneGraphLaunchHasManyKernels) {
  const RankTrace trace = read("h290_cudagraph_shared_corr.json");
  EXPECT_EQ(trace.events.size(), 3U);
  EXPECT_EQ(trace.launches.size(), 1U);
}

TEST(LoadTraces, StreamsOf64BitsAreKept) {
  EXPECT_EQ(read("k1416_64bit_stream.json").events.at(0).stream, 94412345678912);
}

}  // namespace
}  // namespace amsp
