#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/trace_analysis/read_text.h"
#include "tests/trace_analysis/recorded.h"
#include "trace_analysis/trace_diff.h"
#include "traces/check/trace_rules.h"

namespace amsp {
namespace {

TEST(MergedTrace, KeepsTheRulesOfViewersWhateverTheInputsDid) {
  for (std::uint32_t seed = 0; seed < 20; ++seed) {
    const Analysis a = analysed(random_trace(seed, 80)), b = analysed(random_trace(seed + 50, 80));
    EXPECT_THAT(broken_trace_rules(merged_trace(diff_traces(a, b), a, b), RuleSet::kViewers),
                testing::IsEmpty());
  }
}

TEST(MergedTrace, LargeStreamsAndOverlapsGetThreadsOfTheirOwn) {
  const std::string odd = trace(
      joined({step(1, "1000", "1000"), kernel("a", 7, "1100", "100"), kernel("b", 7, "1150", "100"),
              R"({"ph": "X", "cat": "kernel", "name": "c\"\\", "pid": 0, "tid": 0, "ts": 1300,)"
              R"( "dur": 5, "args": {"stream": 94412345678912}})"}));
  const Analysis a = analysed(odd);
  const std::string text = merged_trace(diff_traces(a, a), a, a);
  EXPECT_THAT(broken_trace_rules(text, RuleSet::kViewers), testing::IsEmpty());
  EXPECT_THAT(text, testing::HasSubstr("stream 7 (overlapping)"));
  EXPECT_THAT(text, testing::HasSubstr("stream 94412345678912"));
}

TEST(MergedTrace, ShowsBothSidesAndTheLag) {
  const Analysis a =
      analysed(trace(joined({step(1, "1000", "100"), kernel("a", 7, "1010", "20")})));
  const Analysis b =
      analysed(trace(joined({step(8, "5000", "100"), kernel("a", 7, "5015", "25")})));
  const std::string text = merged_trace(diff_traces(a, b), a, b);
  EXPECT_THAT(text, testing::HasSubstr(R"("name": "A rank 0")"));
  EXPECT_THAT(text, testing::HasSubstr(R"("name": "B rank 0")"));
  // ends at 30 in A and at 40 in B, of its step
  EXPECT_THAT(text,
              testing::HasSubstr(
                  R"("name": "B behind A", "pid": 101, "ts": 40.000, "args": {"us": 10.000})"));
  EXPECT_THAT(text,
              testing::HasSubstr(
                  R"("ts": 10.000, "dur": 20.000, "args": {"stream": 7, "delta_us": 5.000})"));
}

}  // namespace
}  // namespace amsp
