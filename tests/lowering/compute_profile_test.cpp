#include "lowering/compute_profile.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "core/json/json.h"

namespace amsp {
namespace {

/// Work of the GEMMs: 2e6, 2e8, 2e10, 2e12 flop at 1, 4, 2, 100 Gflop/s.
constexpr const char* kToy = R"({
  "schema": "amsp.profile/1",
  "gemm": {"columns": ["m", "k", "n", "forward_s"], "rows": [
    [100, 100, 100, 0.002],
    [1000, 100, 1000, 0.05],
    [10000, 100, 10000, 10.0],
    [10000, 10000, 10000, 20.0]
  ]},
  "attention": {"columns": ["seq", "batch", "heads", "head_dim", "forward_s", "backward_s"],
   "rows": [
    [100, 1, 1, 10, 0.1, null],
    [100, 1, 4, 10, 0.2, 0.8],
    [400, 1, 1, 10, 0.1, 0.4]
  ]}
})";

ComputeProfile toy() {
  return read_compute_profile(parse_json(kToy, "toy.json"), "toy.json");
}

Json a800_json() {
  return read_json_file(AMSP_SOURCE_DIR "/data/profiles/a800-4xhdr.json");
}

TEST(RateCurve, IsLinearBetweenPointsAndConstantOutside) {
  const RateCurve curve({{3, 30}, {1, 10}, {1, 20}});  // x = 1: mean 15
  EXPECT_DOUBLE_EQ(curve.at(0), 15);
  EXPECT_DOUBLE_EQ(curve.at(1), 15);
  EXPECT_DOUBLE_EQ(curve.at(2), 22.5);
  EXPECT_DOUBLE_EQ(curve.at(9), 30);
}

TEST(RateCurve, PoolsAdjacentViolators) {
  // 5 > 1 pool to 3; then 4, 2, 3 pool to 3 as well; 9 stays
  const RateCurve curve =
      RateCurve({{1, 5}, {2, 1}, {3, 4}, {4, 2}, {5, 3}, {6, 9}}).made_monotone();
  for (const double x : {1, 2, 3, 4, 5}) EXPECT_DOUBLE_EQ(curve.at(x), 3);
  EXPECT_DOUBLE_EQ(curve.at(6), 9);
}

TEST(ComputeProfile, GemmOfTheTableIsMeasured) {
  const ComputeTime time = toy().gemm(1000, 100, 1000).value();
  EXPECT_DOUBLE_EQ(time.time.value, 0.05);
  EXPECT_EQ(time.source, Source::kMeasured);
}

TEST(ComputeProfile, OtherGemmsFollowTheMonotoneRate) {
  const ComputeProfile profile = toy();
  const auto time = [&](std::int64_t m, std::int64_t k, std::int64_t n) {
    const ComputeTime found = profile.gemm(m, k, n).value();
    EXPECT_EQ(found.source, Source::kDerived);
    return found.time.value;
  };
  // rates after pooling: 1, 3, 3, 100 Gflop/s
  EXPECT_NEAR(time(1000, 1000, 1000), 2e9 / 3e9, 1e-12);
  // 2e7 is halfway from 2e6 to 2e8 in log: 2 Gflop/s
  EXPECT_NEAR(time(100, 1000, 100), 2e7 / 2e9, 1e-12);
  // the same work in another shape
  EXPECT_NEAR(time(10, 100, 10000), 2e7 / 2e9, 1e-12);
  EXPECT_NEAR(time(100000, 10000, 10000), 200, 1e-9);
  // below all work a launch takes what the fastest row takes
  EXPECT_NEAR(time(1, 1, 1), 0.002, 1e-12);
}

TEST(ComputeProfile, AttentionOfTheTableIsMeasured) {
  const ComputeTime forward = toy().attention(100, 1, 4, 10, true).value();
  EXPECT_DOUBLE_EQ(forward.time.value, 0.2);
  EXPECT_EQ(forward.source, Source::kMeasured);
  EXPECT_DOUBLE_EQ(toy().attention(100, 1, 4, 10, false)->time.value, 0.8);
}

TEST(ComputeProfile, OtherAttentionFollowsTheRate) {
  const ComputeProfile profile = toy();
  const auto time = [&](std::int64_t seq, std::int64_t batch, std::int64_t heads,
                        std::int64_t head_dim, bool forward = true) {
    const ComputeTime found = profile.attention(seq, batch, heads, head_dim, forward).value();
    EXPECT_EQ(found.source, Source::kDerived);
    return found.time.value;
  };
  // rates at seq 100: 1e5/0.1 = 1e6 with 1 head, 4e5/0.2 = 2e6 with 4; 2 heads: 1.5e6
  EXPECT_NEAR(time(100, 1, 2, 10), 2e5 / 1.5e6, 1e-12);
  EXPECT_NEAR(time(100, 2, 1, 10), 2e5 / 1.5e6, 1e-12);
  EXPECT_NEAR(time(100, 2, 2, 10), 4e5 / 2e6, 1e-12);
  EXPECT_NEAR(time(100, 2, 8, 10), 16e5 / 2e6, 1e-12);
  // seq 400 with 1 head: 16e5/0.1 = 16e6; 200 is halfway in log: sqrt(1e6 * 16e6) = 4e6
  EXPECT_NEAR(time(200, 1, 1, 10), 4e5 / 4e6, 1e-12);
  // heads of another size run at the same rate
  EXPECT_NEAR(time(100, 1, 1, 20), 2e5 / 1e6, 1e-12);
  // backward has one row at each seq: 4e5/0.8 and 16e5/0.4
  EXPECT_NEAR(time(100, 1, 1, 10, false), 1e5 / 5e5, 1e-12);
}

TEST(ComputeProfile, HasNoAnswerOutsideTheMeasuredSequences) {
  EXPECT_FALSE(toy().attention(99, 1, 1, 10, true).has_value());
  EXPECT_FALSE(toy().attention(401, 1, 1, 10, true).has_value());
  const Json nothing = Json::parse(R"({"schema": "amsp.profile/1"})");
  const ComputeProfile empty = read_compute_profile(nothing, "p.json");
  EXPECT_FALSE(empty.gemm(1, 1, 1).has_value());
  EXPECT_FALSE(empty.attention(100, 1, 1, 10, true).has_value());
}

TEST(ComputeProfile, RejectsBadTablesAndSaysWhere) {
  struct Bad {
    const char* found;
    const char* instead;
    const char* message;
  };
  const Bad cases[] = {
      {R"("m", "k", "n")", R"("m", "n", "k")",
       "p.json#/gemm/columns: must be m, k, n, forward_s, in this order"},
      {"[100, 100, 100, 0.002]", "[100, 100, 100, null]",
       "p.json#/gemm/rows/0/3: must be a number above 0, found null"},
      {"[100, 100, 100, 0.002]", "[1000, 100, 1000, 0.002]", "p.json#/gemm: has a shape twice"},
      {"[400, 1, 1, 10, 0.1, 0.4]", "[400, 0, 1, 10, 0.1, 0.4]",
       "p.json#/attention/rows/2/1: must be a whole number above 0, found 0"},
      {"[400, 1, 1, 10, 0.1, 0.4]", "[100, 1, 1, 10, 0.1, 0.4]",
       "p.json#/attention: has a shape twice"}};
  for (const auto& [found, instead, message] : cases) {
    std::string text = kToy;
    text.replace(text.find(found), std::string(found).size(), instead);
    SCOPED_TRACE(fmt::format("{} -> {}", found, instead));
    try {
      read_compute_profile(parse_json(text, "p.json"), "p.json");
      ADD_FAILURE() << "was accepted";
    } catch (const ConfigError& error) {
      EXPECT_STREQ(error.what(), message);
    }
  }
}

// The measured file.

TEST(A800ComputeProfile, LlamaShapesComeOutAsMeasuredNearby) {
  const ComputeProfile profile = read_compute_profile(a800_json(), "a800");
  EXPECT_NEAR(profile.gemm(4096, 8192, 8192)->time.value, 2445.14e-6, 1e-9);
  EXPECT_NEAR(profile.attention(4096, 1, 32, 128, true)->time.value, 823.0e-6, 1e-7);
  EXPECT_NEAR(profile.attention(4096, 1, 32, 128, false)->time.value, 2330.9e-6, 1e-7);
  // 7B at 4096 tokens: no such row; large ones reach 209 to 235 Tflop/s
  const ComputeTime projection = profile.gemm(4096, 4096, 4096).value();
  EXPECT_EQ(projection.source, Source::kDerived);
  EXPECT_NEAR(2 * std::pow(4096, 3) / projection.time.value / 1e12, 215, 8);
  EXPECT_NEAR(2.0 * 4096 * 4096 * 11008 / profile.gemm(4096, 4096, 11008)->time.value / 1e12, 223,
              6);
}

struct Errors {
  std::vector<double> all;
  double median() {
    std::sort(all.begin(), all.end());
    return all[all.size() / 2];
  }
  double max() const { return *std::max_element(all.begin(), all.end()); }
};

TEST(A800ComputeProfile, GemmRuleErrsByThisMuchOnRowsLeftOut) {
  Json json = {{"schema", "amsp.profile/1"}, {"gemm", a800_json()["gemm"]}};
  const Json rows = json["gemm"]["rows"];
  Errors errors;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    json["gemm"]["rows"] = rows;
    json["gemm"]["rows"].erase(i);
    const ComputeProfile others = read_compute_profile(json, "others");
    const ComputeTime time = others.gemm(rows[i][0], rows[i][1], rows[i][2]).value();
    ASSERT_EQ(time.source, Source::kDerived);
    errors.all.push_back(std::abs(time.time.value / rows[i][3].get<double>() - 1));
  }
  RecordProperty("errors", fmt::format("median {:.3f} max {:.3f}", errors.median(), errors.max()));
  EXPECT_LE(errors.median(), 0.035);
  EXPECT_LE(errors.max(), 0.16);
}

TEST(A800ComputeProfile, AttentionRuleErrsByThisMuchOnRowsLeftOut) {
  Json json = {{"schema", "amsp.profile/1"}, {"attention", a800_json()["attention"]}};
  Json rows = Json::array();
  for (const Json& row : json["attention"]["rows"])
    if (row[0] >= 2048 && row[0] <= 8192) rows.push_back(row);
  Errors forward, backward, busy;  // busy: 8 heads and more over all sequences
  for (std::size_t i = 0; i < rows.size(); ++i) {
    json["attention"]["rows"] = rows;
    json["attention"]["rows"].erase(i);
    const ComputeProfile others = read_compute_profile(json, "others");
    for (const bool is_forward : {true, false}) {
      const ComputeTime time =
          others.attention(rows[i][0], rows[i][1], rows[i][2], rows[i][3], is_forward).value();
      const double measured = rows[i][is_forward ? 4 : 5];
      const double error = std::abs(time.time.value / measured - 1);
      (is_forward ? forward : backward).all.push_back(error);
      if (rows[i][1].get<int>() * rows[i][2].get<int>() >= 8) busy.all.push_back(error);
    }
  }
  RecordProperty("forward",
                 fmt::format("median {:.4f} max {:.3f}", forward.median(), forward.max()));
  RecordProperty("backward",
                 fmt::format("median {:.4f} max {:.3f}", backward.median(), backward.max()));
  RecordProperty("busy", fmt::format("median {:.4f} max {:.3f}", busy.median(), busy.max()));
  EXPECT_LE(forward.median(), 0.013);
  EXPECT_LE(backward.median(), 0.005);
  EXPECT_LE(busy.max(), 0.12);
}

TEST(A800ComputeProfile, AttentionBetweenSequencesIsCloseToTheTable) {
  Json json = {{"schema", "amsp.profile/1"}, {"attention", a800_json()["attention"]}};
  Json without = Json::array();
  Errors errors;
  for (const Json& row : json["attention"]["rows"])
    if (row[0] != 4096) without.push_back(row);
  const Json all = json["attention"]["rows"];
  json["attention"]["rows"] = without;
  const ComputeProfile others = read_compute_profile(json, "others");
  for (const Json& row : all)
    if (row[0] == 4096)
      errors.all.push_back(std::abs(others.attention(4096, row[1], row[2], 128, true)->time.value /
                                        row[4].get<double>() -
                                    1));
  RecordProperty("errors", fmt::format("median {:.4f} max {:.3f}", errors.median(), errors.max()));
  EXPECT_LE(errors.median(), 0.06);
  EXPECT_LE(errors.max(), 0.25);
}

}  // namespace
}  // namespace amsp
