#include "fidelity/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "tests/fidelity/made_up.h"

namespace amsp {
namespace {

using ::testing::HasSubstr;

TEST(Report, TextFits100ColumnsAndNamesWhatWasSkipped) {
  const std::string text = fidelity_text(
      {compared(
          R"([{"name": "a row with a name that is much longer than what fits into a column of a table",
                     "value": 512, "doubtful": "says who, at length, and at more length, and so on until it no longer fits"},
                    {"name": "b", "value": 1, "skip": "one reason"},
                    {"name": "c", "value": 1, "skip": "one reason"}])")},
      true);
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100U) << line;
  EXPECT_THAT(text, HasSubstr("skipped: 2 rows: one reason"));
  EXPECT_THAT(text, HasSubstr("doubtful"));
}

TEST(Report, JsonHasStatisticsAndRows) {
  const OrderedJson json = fidelity_json({compared(kThree)});
  const OrderedJson& metric = json.at("sets").at(0).at("metrics").at(0);
  EXPECT_EQ(json.at("schema"), "amsp.fidelity/1");
  EXPECT_NEAR(metric.at("predicted").at("median_absolute_error").get<double>(), 0.2, 1e-12);
  EXPECT_TRUE(metric.at("error_by_doubling").at("gpus").is_null());
  EXPECT_NEAR(json.at("sets").at(0).at("rows").at(2).at("error").get<double>(), 0.28, 1e-12);
}

TEST(Report, CsvQuotesWhatNeedsQuotes) {
  const std::string csv = fidelity_csv({compared(
      R"([{"name": "a, \"b\"", "value": 512}, {"name": "c", "value": 1, "skip": "why, indeed"}])")});
  EXPECT_THAT(csv, HasSubstr("\nmade-up,\"a, \"\"b\"\"\",tgs,512,512,0,yes,512,256,512,"));
  EXPECT_THAT(csv, HasSubstr("\nmade-up,c,tgs,1,,,,,,,,,,,,\"why, indeed\",\n"));
}

TEST(Report, PictureHasAPointForEveryRow) {
  const std::string svg = fidelity_svg({compared(kThree)});
  std::size_t points = 0;
  for (std::size_t at = 0; (at = svg.find("<title>", at)) != std::string::npos; ++at) ++points;
  EXPECT_EQ(points, 3U);
  EXPECT_THROW(fidelity_svg({compared(R"([{"name": "a", "value": 1, "skip": "no"}])")}),
               InfeasibleError);
}

}  // namespace
}  // namespace amsp
