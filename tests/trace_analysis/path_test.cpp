#include <gtest/gtest.h>

#include "tests/trace_analysis/read_text.h"
#include "tests/trace_analysis/recorded.h"
#include "tests/traces/toy_step.h"
#include "trace_analysis/trace_path.h"
#include "traces/write/chrome_writer.h"

namespace amsp {
namespace {

void expect_tiles(const std::vector<PathPiece>& path, Nanoseconds begin, Nanoseconds end) {
  ASSERT_FALSE(path.empty());
  EXPECT_EQ(path.front().start, begin);
  EXPECT_EQ(path.back().end, end);
  for (std::size_t i = 0; i < path.size(); ++i) {
    EXPECT_LT(path[i].start, path[i].end);
    EXPECT_EQ(path[i].start, i == 0 ? begin : path[i - 1].end);
  }
}

TEST(TracePath, OfOurTracesIsTheEngines) {
  const TaskGraph graph = toy_graph();
  const Timeline timeline = toy_timeline(graph);
  TraceMeta meta;
  meta.source = "sim";
  const Analysis analysis = analysed(chrome_trace(timeline, {0, 1}, meta));
  const std::vector<PathPiece> path = trace_path(analysis, 0);
  EXPECT_EQ(path_by_kind(path), path_by_kind(critical_path(timeline)));
  expect_tiles(path, 50'000_ns, 270'000_ns);
  for (const PathPiece& piece : path) EXPECT_FALSE(piece.inferred);
}

TEST(TracePath, TilesEveryStepOfAnyTrace) {
  for (std::uint32_t seed = 0; seed < 20; ++seed) {
    for (const std::string& text : {random_trace(seed, 80), kineto_trace(seed, 40, 3)}) {
      const Analysis analysis = analysed(text);
      for (std::size_t step = 0; step < analysis.windows[0].steps.size(); ++step) {
        Nanoseconds begin, end;
        for (std::size_t rank = 0; rank < analysis.ranks(); ++rank) {
          begin = std::max(begin, analysis.windows[rank].steps[step].begin);
          end = std::max(end, analysis.windows[rank].steps[step].end);
        }
        expect_tiles(trace_path(analysis, step), begin, end);
      }
    }
  }
}

TEST(TracePath, NamesTheLaunchThatHeldUpAKernel) {
  // a ends at 1110; b is called at 1130 and starts at 1150
  const Analysis analysis =
      analysed(trace(joined({step(1, "1000", "200"), launch(1, "1000", "5"), launch(2, "1130", "5"),
                             kernel("a", 7, "1010", "100", R"(, "correlation": 1)"),
                             kernel("b", 7, "1150", "50", R"(, "correlation": 2)")})));
  const std::map<std::string, Nanoseconds> expected = {
      {"compute", 150'000_ns}, {"host", 20'000_ns}, {"launch", 20'000_ns}, {"idle", 10'000_ns}};
  EXPECT_EQ(path_by_kind(trace_path(analysis, 0)), expected);
}

TEST(TracePath, AKernelBeforeItsLaunchWasLaunchedAtOnce) {
  const Analysis analysis =
      analysed(trace(joined({step(1, "1000", "200"), launch(1, "1010.6", "5"),
                             kernel("a", 7, "1010", "100", R"(, "correlation": 1)")})));
  EXPECT_EQ(path_by_kind(trace_path(analysis, 0)),
            (std::map<std::string, Nanoseconds>{{"compute", 100'000_ns}, {"idle", 100'000_ns}}));
}

TEST(TracePath, ACollectiveWaitsForItsLastMember) {
  const std::string args = R"(, "Collective name": "allreduce", "Process Group Name": "0", )"
                           R"("Process Group Ranks": "[0, 1]", "Seq": 1)";
  const auto rank = [&](int number, const std::string& compute, const std::string& start,
                        const std::string& duration) {
    return trace(joined({step(1, "1000", "1000"), kernel("gemm", 7, "1000", compute),
                         kernel("ncclAllReduce", 20, start, duration, args)}),
                 number);
  };
  // rank 1 computes until 1800; both end at 2000
  const Analysis analysis =
      analysed_ranks({rank(0, "300", "1300", "700"), rank(1, "800", "1800", "200")});
  const std::vector<PathPiece> path = trace_path(analysis, 0);
  ASSERT_EQ(path.size(), 2U);
  EXPECT_EQ(path[0].rank, 1);
  EXPECT_EQ(path[0].kind, "compute");
  EXPECT_EQ(path[0].end - path[0].start, 800'000_ns);
  EXPECT_EQ(path[1].kind, "all_reduce");
  EXPECT_EQ(path[1].end - path[1].start, 200'000_ns);
}

TEST(TracePath, CirclesInATraceEnd) {
  const auto dep = [](const char* id, const char* on) {
    return std::string(R"(, "correlation": )") + id + R"(, "deps": [)" + on + "]";
  };
  const Analysis analysis = analysed(trace(joined(
      {step(1, "1000", "100"), kernel("a", 7, "1010", "0", dep("1", "2")),
       kernel("b", 8, "1010", "0", dep("2", "1")), kernel("c", 9, "1010", "5", dep("3", "1"))})));
  expect_tiles(trace_path(analysis, 0), 1'000'000_ns, 1'100'000_ns);
}

}  // namespace
}  // namespace amsp
