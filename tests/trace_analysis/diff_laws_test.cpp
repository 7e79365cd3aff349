#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "tests/core/message_of.h"
#include "tests/trace_analysis/read_text.h"
#include "tests/trace_analysis/recorded.h"
#include "trace_analysis/trace_diff.h"
#include "traces/terms/trace_text.h"

namespace amsp {
namespace {

/// Traces with and without task keys.
class DiffLaws : public testing::TestWithParam<int> {
 protected:
  static bool keyed() { return GetParam() % 2 == 0; }
  static std::string text(int variant = 0) {
    const auto seed = static_cast<std::uint32_t>(100 * GetParam() + variant);
    return keyed() ? random_trace(seed, 60) : kineto_trace(seed, 60, 3);
  }
  static Analysis read(const std::string& text) { return analysed(text); }
};

void expect_nothing(const TraceDiff& diff) {
  EXPECT_EQ(diff.step_b, diff.step_a);
  for (const WaterfallPart& part : diff.waterfall) EXPECT_EQ(part.delta(), 0_ns) << part.name;
  for (const OperationDiff& operation : diff.by_key) EXPECT_EQ(operation.delta(), 0_ns);
  EXPECT_TRUE(diff.only_a.empty());
  EXPECT_TRUE(diff.only_b.empty());
  EXPECT_EQ(diff.absolute_error, 0_ns);
}

TEST_P(DiffLaws, OfATraceWithItselfIsZero) {
  const Analysis a = read(text());
  const TraceDiff diff = diff_traces(a, a);
  expect_nothing(diff);
  EXPECT_FALSE(diff.by_key.empty());
}

TEST_P(DiffLaws, ExchangingTheSidesChangesTheSign) {
  const Analysis a = read(text()), b = read(text(1));
  const TraceDiff ab = diff_traces(a, b), ba = diff_traces(b, a);
  EXPECT_NE(ab.absolute_error, 0_ns);
  ASSERT_EQ(ab.waterfall.size(), ba.waterfall.size());
  for (std::size_t i = 0; i < ab.waterfall.size(); ++i) {
    EXPECT_EQ(ab.waterfall[i].name, ba.waterfall[i].name);
    EXPECT_EQ(ab.waterfall[i].delta(), -ba.waterfall[i].delta());
  }
  ASSERT_EQ(ab.by_key.size(), ba.by_key.size());
  for (std::size_t i = 0; i < ab.by_key.size(); ++i) {
    EXPECT_EQ(ab.by_key[i].name, ba.by_key[i].name);
    EXPECT_EQ(ab.by_key[i].delta(), -ba.by_key[i].delta());
  }
  EXPECT_EQ(ab.only_a.size(), ba.only_b.size());
  EXPECT_EQ(ab.only_b.size(), ba.only_a.size());
  EXPECT_EQ(ab.signed_error, -ba.signed_error);
  EXPECT_EQ(ab.absolute_error, ba.absolute_error);
}

TEST_P(DiffLaws, TheWaterfallClosesToTheNanosecond) {
  const TraceDiff diff = diff_traces(read(text()), read(text(1)));
  Nanoseconds sum;
  for (const WaterfallPart& part : diff.waterfall) sum += part.delta();
  EXPECT_EQ(sum, diff.step_b - diff.step_a);
}

TEST_P(DiffLaws, ShiftingAllTimesChangesNothing) {
  const std::string shifted = with_events(text(), [](Json& event) {
    if (event.contains("ts"))
      event["ts"] =
          static_cast<double>(std::llround(event["ts"].get<double>() * 1000) + 123'457) / 1000;
  });
  expect_nothing(diff_traces(read(text()), read(shifted)));
  const TraceDiff before = diff_traces(read(text()), read(text(1)));
  const TraceDiff after = diff_traces(read(shifted), read(text(1)));
  ASSERT_EQ(before.waterfall.size(), after.waterfall.size());
  for (std::size_t i = 0; i < before.waterfall.size(); ++i)
    EXPECT_EQ(before.waterfall[i].delta(), after.waterfall[i].delta());
}

TEST_P(DiffLaws, OneInsertedKernelIsOneUnmatchedEvent) {
  Json json = Json::parse(text());
  // copies the third kernel that starts inside a step to a place of its own in the same step
  std::int64_t inside = 0;
  for (const Json& event : json["traceEvents"])
    if (event.value("name", "").starts_with("ProfilerStep"))
      inside = std::max(inside, static_cast<std::int64_t>(event["ts"].get<double>() * 1000) + 1);
  Json inserted;
  for (const Json& event : json["traceEvents"])
    if (event.value("cat", "") == "kernel" && !event["args"].contains("Collective name"))
      inserted = event;
  inserted["name"] = "void inserted(x)";
  inserted["ts"] = static_cast<double>(inside) / 1000;
  inserted["dur"] = 0.125;
  inserted["args"].erase("sk");
  if (keyed()) inserted["args"]["sk"] = "s1/mb7/fwd/L7/inserted/forward";
  inserted["args"]["correlation"] = 4'000'000;
  inserted["args"]["grid"] = "inserted";
  json["traceEvents"].push_back(inserted);
  const TraceDiff diff = diff_traces(read(text()), read(json.dump()));
  EXPECT_EQ(diff.only_a.size(), 0U);
  ASSERT_EQ(diff.only_b.size(), 1U);
  EXPECT_EQ(diff.only_b[0].time, 125_ns);
  EXPECT_THAT(diff.only_b[0].what, testing::HasSubstr("inserted"));
  EXPECT_EQ(diff.absolute_error, 0_ns);
}

TEST_P(DiffLaws, ALongerOperationMovesOnlyItsOwnKeys) {
  std::string slow;  // one key, or one kernel name
  const std::string scaled = with_events(text(), [&](Json& event) {
    if (event.value("cat", "") != "kernel" || event["args"].contains("Collective name")) return;
    const std::string own =
        keyed() ? event["args"]["sk"].get<std::string>() : event["name"].get<std::string>();
    const auto ns = std::llround(event["dur"].get<double>() * 1000);
    if (slow.empty() && ns >= 1000) slow = own;
    if (own == slow)
      event["dur"] = static_cast<double>(std::llround(1.1 * static_cast<double>(ns))) / 1000;
  });
  const TraceDiff diff = diff_traces(read(text()), read(scaled));
  EXPECT_TRUE(diff.only_a.empty());
  EXPECT_TRUE(diff.only_b.empty());
  int moved = 0;
  for (const OperationDiff& operation : diff.by_key) {
    if (operation.delta() == 0_ns) continue;
    ++moved;
    EXPECT_NEAR(static_cast<double>(operation.sum_b.value),
                1.1 * static_cast<double>(operation.sum_a.value),
                static_cast<double>(operation.a.size()));
  }
  EXPECT_LE(moved, 1);
  EXPECT_EQ(diff.signed_error, diff.absolute_error);
}

TEST_P(DiffLaws, RenamedKernelsAreStillPaired) {
  if (keyed()) return;  // keys say it all
  const std::string renamed = with_events(text(), [](Json& event) {
    if (event.value("cat", "") == "kernel" && event["name"].get<std::string>().starts_with("void"))
      event["name"] = "new_" + event["name"].get<std::string>();
  });
  const TraceDiff diff = diff_traces(read(text()), read(renamed));
  EXPECT_TRUE(diff.only_a.empty());
  EXPECT_GT(diff.coverage.matched.at(Confidence::kAmbiguous).first, 0_ns) << "and it is said so";
}

INSTANTIATE_TEST_SUITE_P(, DiffLaws, testing::Range(0, 12), [](const auto& test) {
  return (test.param % 2 == 0 ? "Keyed" : "Kineto") + std::to_string(test.param);
});

TEST(Diff, PairOfTheManifest) {
  const std::string folder = AMSP_SOURCE_DIR "/tests/traces/odd_inputs/";
  const auto read = [&](const char* name) {
    return analyse(load_traces({folder + name}, {}), WindowChoice::kAuto);
  };
  const TraceDiff diff = diff_traces(read("diff_a.json"), read("diff_b.json"));
  EXPECT_TRUE(diff.only_a.empty());
  ASSERT_EQ(diff.only_b.size(), 1U);
  EXPECT_EQ(diff.only_b[0].what, "s1/mb0/fwd/L0/ln_fused");
  EXPECT_EQ(diff.only_b[0].time, 30'000_ns);
  ASSERT_EQ(diff.by_key.size(), 5U);
  for (const OperationDiff& operation : diff.by_key) EXPECT_EQ(operation.delta(), 0_ns);
}

TEST(Diff, ADroppedRankIsReportedNotAveragedAway) {
  const Analysis both = analysed_ranks({kineto_trace(1, 20, 2, 0), kineto_trace(2, 20, 2, 1)});
  const Analysis one = analysed(kineto_trace(1, 20, 2, 0));
  const TraceDiff diff = diff_traces(both, one);
  EXPECT_EQ(diff.left_out, std::vector<std::string>{"rank 1 is only in A"});
  EXPECT_EQ(diff.pairs.size(), 2U);
  EXPECT_EQ(diff.absolute_error, 0_ns);
}

TEST(Diff, TheOrderOfFilesDoesNotMatter) {
  const std::string first = testing::TempDir() + "/order_0.json";
  const std::string second = testing::TempDir() + "/order_1.json";
  write_file(first, kineto_trace(1, 20, 2, 0));
  write_file(second, kineto_trace(2, 20, 2, 1));
  const auto read = [](const std::vector<std::string>& paths) {
    return analyse(load_traces(paths, {}), WindowChoice::kAuto);
  };
  const Analysis a = read({first, second}), b = read({second, first});
  const Analysis c = analysed_ranks({kineto_trace(3, 20, 2, 0), kineto_trace(4, 20, 2, 1)});
  EXPECT_EQ(diff_json(diff_traces(a, c), a, c).dump(), diff_json(diff_traces(b, c), b, c).dump());
}

TEST(Diff, StepsArePairedByOrderNotByNumber) {
  const std::string renumbered = with_events(kineto_trace(1, 20, 3), [](Json& event) {
    const std::string name = event.value("name", "");
    if (name.starts_with("ProfilerStep#4")) event["name"] = "ProfilerStep#9" + name.substr(14);
  });
  expect_nothing(diff_traces(analysed(kineto_trace(1, 20, 3)), analysed(renumbered)));
}

TEST(Diff, OneStepIsComparedWithTheOneOfMedianLength) {
  const Analysis one =
      analysed(trace(joined({step(1, "1000", "1000"), kernel("a", 7, "1100", "10")})));
  const Analysis three = analysed(trace(joined(
      {step(5, "1000", "3000"), step(6, "4000", "1100"), step(7, "5100", "900"),
       kernel("a", 7, "1100", "10"), kernel("a", 7, "4100", "12"), kernel("a", 7, "5200", "10")})));
  const TraceDiff diff = diff_traces(one, three);
  EXPECT_EQ(diff.step_b, 1'100'000_ns);
  EXPECT_EQ(diff.left_out, std::vector<std::string>{
                               "the one step of A is compared with step 1 of B, of median length"});
}

TEST(Diff, SidesWithoutACommonRankAreRefused) {
  const Analysis a = analysed_ranks({kineto_trace(1, 9, 1, 0), kineto_trace(2, 9, 1, 1)});
  const Analysis b = analysed(kineto_trace(1, 9, 1, 2));
  EXPECT_EQ(message_of([&] { diff_traces(a, b); }), "the two sides have no rank in common");
}

TEST(Diff, TheTextFitsAHundredColumns) {
  const Analysis a = analysed(random_trace(5, 200)), b = analysed(random_trace(6, 200));
  const std::string text = diff_text(diff_traces(a, b), a, b);
  std::size_t from = 0;
  for (std::size_t end = 0; (end = text.find('\n', from)) != std::string::npos; from = end + 1)
    EXPECT_LE(end - from, 100U) << text.substr(from, end - from);
}

}  // namespace
}  // namespace amsp
