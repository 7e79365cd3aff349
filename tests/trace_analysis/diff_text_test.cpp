#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/json/json.h"
#include "tests/trace_analysis/read_text.h"
#include "tests/trace_analysis/recorded.h"
#include "trace_analysis/report/summary.h"
#include "trace_analysis/trace_diff.h"

namespace amsp {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

/// Step 1 of a rank: a kernel that all have, and more.
std::string rank_trace(int rank, std::vector<std::string> more, const std::string& behind = "") {
  more.insert(more.begin(), {step(1, "0", "1000"), kernel("same", 7, "10", "50")});
  return trace(joined(more) + behind, rank);
}

Analysis without_more() {
  return analysed_ranks({rank_trace(0, {}), rank_trace(1, {}), rank_trace(2, {})});
}
Analysis with_more() {
  return analysed_ranks(
      {rank_trace(0, {kernel("extra", 7, "100", "10")}),
       rank_trace(1, {kernel("extra", 7, "100", "20")}),
       rank_trace(2, {kernel("x", 7, "100", "40"), kernel("y", 7, "200", "30")})});
}

TEST(DiffText, EventsWithoutPartnersAreListedRankByRank) {
  const Analysis a = without_more(), b = with_more();
  const std::string text = diff_text(diff_traces(a, b), a, b);
  EXPECT_THAT(text, HasSubstr("only in B: 4 events, 100.0 us\n"
                              "  ranks 0-1: 1 event each, 10.00 us on rank 0\n"
                              "     10.00 us  extra  (step 1, no partner)\n"
                              "  rank 2: 2 events, 70.00 us\n"
                              "     40.00 us  x  (step 1, no partner)\n"
                              "     30.00 us  y  (step 1, no partner)\n"));
  EXPECT_THAT(text, Not(HasSubstr("only in A")));
  EXPECT_THAT(diff_text(diff_traces(b, a), b, a), HasSubstr("only in A: 4 events, 100.0 us\n"));
}

TEST(DiffText, JsonHasThemAllAndByRank) {
  const Analysis a = without_more(), b = with_more();
  const OrderedJson json = diff_json(diff_traces(a, b), a, b);
  EXPECT_EQ(json["only_in_a_by_rank"], OrderedJson::array());
  EXPECT_EQ(json["only_in_b_by_rank"].dump(),
            R"([{"rank":0,"events":1,"time_ns":10000,"longest":["extra"]},)"
            R"({"rank":1,"events":1,"time_ns":20000,"longest":["extra"]},)"
            R"({"rank":2,"events":2,"time_ns":70000,"longest":["x","y"]}])");
  ASSERT_EQ(json["only_in_b"].size(), 4U);
  EXPECT_EQ(json["only_in_b"][0]["where"], "rank 2 step 1");
}

TEST(DiffText, FewOfManyAreNamedAndTheRestCounted) {
  std::vector<std::string> more;
  for (int i = 0; i < 9; ++i)
    more.push_back(kernel("k" + std::to_string(i), 7, std::to_string(100 + 20 * i), "10"));
  std::vector<std::string> ranks_a, ranks_b;
  for (int rank = 0; rank < 7; ++rank) {
    ranks_a.push_back(rank_trace(rank, {}));
    ranks_b.push_back(rank_trace(rank, {more.begin(), more.end() - rank}));
  }
  const Analysis a = analysed_ranks(ranks_a), b = analysed_ranks(ranks_b);
  const std::string text = diff_text(diff_traces(a, b), a, b);
  EXPECT_THAT(text, HasSubstr("  rank 0: 9 events, 90.00 us\n"));
  EXPECT_THAT(text, HasSubstr("               ... and 6 more\n"));
  EXPECT_THAT(text, HasSubstr("  rank 3: 6 events, 60.00 us\n"));
  EXPECT_THAT(text, Not(HasSubstr("  rank 4: ")));
  EXPECT_THAT(text, HasSubstr("  ... and on 3 more ranks (--json has all)\n"));
}

TEST(Faults, AreCountedByKindOverFilesAndRanks) {
  EXPECT_THAT(fault_lines(without_more()), IsEmpty());
  const std::vector<std::string> zero{kernel("early", 7, "0", "0")};
  const Analysis bad = analysed_ranks({rank_trace(0, zero, ","), rank_trace(1, zero, ",")});
  EXPECT_THAT(fault_lines(bad),
              ElementsAre("repaired: 2 x trailing comma", "events set aside: 2 x time 0"));
  const std::string text = diff_text(diff_traces(bad, bad), bad, bad);
  EXPECT_THAT(text, HasSubstr("   repaired: 2 x trailing comma\n"
                              "   events set aside: 2 x time 0\n"));
}

TEST(Faults, SkippedEventsAndEarlyEndsAreNamed) {
  LoadOptions options;
  options.read.salvage = options.read.allow_partial = true;
  const std::string broken =
      trace(joined({step(1, "0", "1000"), kernel("a", 7, "10", "50"), kernel("b\"c", 7, "80", "5"),
                    kernel("d", 7, "100", "5")}));
  EXPECT_THAT(fault_lines(analysed(broken, options)),
              ElementsAre("events skipped: 1 x syntax error"));
  const std::string cut = trace(
      joined({step(1, "0", "1000"), kernel("a", 7, "10", "50"), kernel("b", 7, "100", "50")}));
  EXPECT_THAT(fault_lines(analysed(cut.substr(0, cut.size() - 20), options)),
              ElementsAre(StartsWith("incomplete: trace.json: the text ends at ")));
}

TEST(Faults, LaunchesDaysAwayAreCountedToo) {
  const Analysis analysis = analysed(trace(joined(
      {step(1, "1000", "1000"), kernel("a", 7, "1010", "50"), launch(1, "900000000000000", "5")})));
  EXPECT_THAT(fault_lines(analysis),
              ElementsAre("events set aside: 1 x days away from all others"));
}

}  // namespace
}  // namespace amsp
