#include "fidelity/measured_set.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "scenario/scenario.h"
#include "tests/core/message_of.h"

namespace amsp {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(SplitOverrides, EndAtBlanksAndSemicolonsOutsideOfJson) {
  EXPECT_THAT(split_overrides(" a.b=1  c=x;d={\"e f\": [1, 2; 3]} ; g=\"h \\\" ; i\" "),
              ElementsAre("a.b=1", "c=x", "d={\"e f\": [1, 2; 3]}", "g=\"h \\\" ; i\""));
  EXPECT_THAT(split_overrides(" ; \t\n"), ElementsAre());
  EXPECT_THAT(split_overrides("a=} b=1"), ElementsAre("a=}", "b=1"));
}

MeasuredSet set_of(const std::string& text) {
  return read_measured_set(parse_json(text, "set.json"), "set", "set.json");
}

TEST(MeasuredSet, PartsAreWrittenOut) {
  const MeasuredSet set = set_of(R"({
    "schema": "amsp.measured/1", "title": "t", "scenario": {"name": "s"}, "metric": "mfu",
    "parts": {"big": "a=1 b=2"},
    "rows": [{"name": "x", "overrides": "@big c=3", "value": 0.5, "doubtful": "why"},
             {"name": "y", "metric": "tgs", "value": 100, "skip": "because", "note": "n"}]})");
  ASSERT_EQ(set.rows.size(), 2U);
  EXPECT_THAT(set.rows[0].overrides, ElementsAre("a=1", "b=2", "c=3"));
  EXPECT_EQ(set.rows[0].metric, Metric::kMfu);
  EXPECT_EQ(set.rows[0].doubtful, "why");
  EXPECT_EQ(set.rows[1].metric, Metric::kTgs);
  EXPECT_EQ(set.rows[1].skipped, "because");
  EXPECT_EQ(set.rows[1].note, "n");
  EXPECT_EQ(set.bases.at(0).json.at("name"), "s");
}

TEST(MeasuredSet, MistakesAreToldWithTheirPlace) {
  const auto message = [](const std::string& row) {
    return message_of([&] {
      set_of(R"({"schema": "amsp.measured/1", "title": "t", "scenario": {}, "rows": [)" + row +
             "]}");
    });
  };
  EXPECT_EQ(message(R"({"name": "x", "overrides": "@big", "value": 1})"),
            "set.json#/rows/0/overrides: there is no part '@big'");
  EXPECT_EQ(message(R"({"name": "x", "metric": "mfu", "value": 51})"),
            "set.json#/rows/0/value: an MFU is a fraction up to 1 such as 0.51, found 51");
  EXPECT_EQ(message(R"({"name": "x", "value": 0})"), "set.json#/rows/0/value: must be above 0");
  EXPECT_THAT(message(R"({"name": "x", "value": 1, "notes": ""})"),
              HasSubstr("did you mean 'note'?"));
}

TEST(MeasuredSet, ASampleIsSpreadEvenly) {
  MeasuredSet set;
  for (const char* name : {"a", "b", "c", "d", "e", "f", "g"}) {
    set.rows.emplace_back();
    set.rows.back().name = name;
  }
  const MeasuredSet three = sampled(set, 3);  // 0, 7/3, 14/3
  ASSERT_EQ(three.rows.size(), 3U);
  EXPECT_EQ(three.rows[0].name + three.rows[1].name + three.rows[2].name, "ace");
  EXPECT_EQ(sampled(set, 7).rows.size(), 7U);
  EXPECT_EQ(sampled(set, 8).rows.size(), 7U);
}

TEST(MeasuredSet, ShippedOnesAreReadAndTheirRowsHaveNamesOfTheirOwn) {
  EXPECT_GE(shipped_set_names().size(), 5U);
  for (const std::string& name : shipped_set_names()) {
    const MeasuredSet set = shipped_set(name);
    EXPECT_FALSE(set.sources.empty()) << name;
    std::set<std::string> names;
    for (const MeasuredRow& row : set.rows)
      EXPECT_TRUE(names.insert(row.name).second) << name << ": " << row.name;
  }
}

TEST(MeasuredSet, TableVIsThatOfTheSlowTest) {
  const MeasuredSet set = shipped_set("amsp-table-v");
  ASSERT_EQ(set.rows.size(), 48U);
  int doubtful = 0;
  for (const MeasuredRow& row : set.rows) {
    doubtful += row.doubtful.empty() ? 0 : 1;
    Json json = set.bases.at(row.base).json;
    for (const std::string& override : row.overrides) apply_override(json, override);
    EXPECT_EQ(read_scenario(json, "table-v").plan.dp.size(), 64);
  }
  EXPECT_EQ(doubtful, 1);
}

std::string csv_message(const std::string& text) {
  return message_of([&] { read_measured_csv(text, "runs.csv"); });
}

TEST(MeasuredCsv, CellsInQuotesHoldCommasQuotesAndLines) {
  const MeasuredSet set = read_measured_csv(
      "\xEF\xBB\xBF# measured in May\r\n"
      "value,metric,scenario,overrides,note\r\n"
      "\r\n"
      "12.5,tgs,none.json,\"plan={\"\"p\"\": \"\"4x1\"\", \"\"g\"\": \"\"4x1\"\"} "
      "a=1\",\"two\nlines\"\r\n"
      "3,step_time_s,none.json,,\n",
      "folder/runs.csv");
  ASSERT_EQ(set.rows.size(), 2U);
  EXPECT_EQ(set.name, "runs.csv");
  EXPECT_THAT(set.rows[0].overrides, ElementsAre(R"(plan={"p": "4x1", "g": "4x1"})", "a=1"));
  EXPECT_EQ(set.rows[0].note, "two\nlines");
  EXPECT_EQ(set.rows[0].value, 12.5);
  EXPECT_EQ(set.rows[1].name, "none");
  ASSERT_EQ(set.bases.size(), 1U);
  EXPECT_THAT(set.bases[0].fault, HasSubstr("folder/none.json"));
}

TEST(MeasuredCsv, MistakesAreToldWithTheirLine) {
  const std::string header = "scenario,metric,value\n";
  EXPECT_EQ(csv_message(""), "runs.csv:1: the table is empty");
  EXPECT_EQ(csv_message(header), "runs.csv:1: the table has no rows");
  EXPECT_EQ(csv_message("scenario,value\n"), "runs.csv:1: the column 'metric' is missing");
  EXPECT_THAT(csv_message("scenario,metrics,value\n"), HasSubstr("did you mean 'metric'?"));
  EXPECT_EQ(csv_message("value,value,metric,scenario\n"),
            "runs.csv:1: the column 'value' stands twice");
  EXPECT_EQ(csv_message(header + "\na.json,tgs\n"), "runs.csv:3: has 2 cells under 3 columns");
  EXPECT_EQ(
      csv_message(header + "a.json,speed,1\n"),
      "runs.csv:2: metric: must be one of step_time_s, tgs, mfu, memory_gib, found \"speed\"");
  EXPECT_EQ(csv_message(header + "a.json,tgs,1 s\n"),
            "runs.csv:2: value: must be a number, found \"1 s\"");
  EXPECT_EQ(csv_message(header + "a.json,tgs,-1\n"), "runs.csv:2: value: must be above 0");
  EXPECT_EQ(csv_message(header + ",tgs,1\n"), "runs.csv:2: scenario: is missing");
  EXPECT_EQ(csv_message(header + "\"a.json,tgs,1\n"), "runs.csv:2: a quoted cell has no end");
}

}  // namespace
}  // namespace amsp
