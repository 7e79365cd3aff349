// The paper's Table V from component measurements. Slow: 48 simulations of 64 GPUs.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <map>
#include <sstream>

#include "tests/prediction/predicted.h"

namespace amsp {
namespace {

struct Row {
  std::string model, overlap;
  int micro_batches = 0;
  double reference_tgs = 0;
  bool doubtful = false;
};

std::vector<Row> table_v() {
  std::ifstream file(AMSP_SOURCE_DIR "/tests/prediction/data/table_v.csv");
  std::vector<Row> rows;
  std::string line;
  bool header = true;
  while (std::getline(file, line)) {
    if (line.starts_with('#')) continue;
    if (std::exchange(header, false)) continue;
    std::istringstream fields(line);
    std::vector<std::string> cells;
    for (std::string cell; std::getline(fields, cell, ',');) cells.push_back(cell);
    rows.push_back({cells.at(0), cells.at(1), std::stoi(cells.at(2)), std::stod(cells.at(5)),
                    cells.at(6) == "1"});
  }
  return rows;
}

std::vector<std::string> overrides_of(const std::string& overlap) {
  std::vector<std::string> overrides = {"engine.preset=amsp"};
  if (overlap != "full") overrides.emplace_back("engine.overlap.broadcast=false");
  if (overlap == "noBC_noAR" || overlap == "none")
    overrides.emplace_back("engine.overlap.all_reduce=false");
  if (overlap == "none") overrides.emplace_back("engine.overlap.gather=false");
  return overrides;
}

TEST(Fidelity, TableVFromComponents) {
  const std::vector<Row> rows = table_v();
  ASSERT_EQ(rows.size(), 48U);
  double sum = 0;
  double worst = 0;
  std::map<std::pair<std::string, int>, std::vector<double>> series;  // by overlap: full first
  for (const Row& row : rows) {
    const Predicted p =
        predict(paper_scenario(row.model, 8, row.micro_batches, overrides_of(row.overlap)));
    const double tgs = p.prediction.tokens_per_gpu_second;
    const double error = tgs / row.reference_tgs - 1;
    fmt::print("{:10} {:10} M {}  TGS {:6.0f}  paper {:6.0f}  {:+6.1f} %{}\n", row.model,
               row.overlap, row.micro_batches, tgs, row.reference_tgs, 100 * error,
               row.doubtful ? "  (doubtful row)" : "");
    sum += std::abs(error);
    if (!row.doubtful) worst = std::max(worst, std::abs(error));
    series[{row.model, row.micro_batches}].push_back(tgs);
  }
  const double mean = sum / static_cast<double>(rows.size());
  fmt::print("mean {:.1f} %, largest {:.1f} % (without the doubtful row)\n", 100 * mean,
             100 * worst);
  EXPECT_LT(mean, 0.07);
  for (const auto& [key, tgs] : series) {
    EXPECT_GT(tgs[0], tgs[1]) << key.first << " M " << key.second;
    EXPECT_GT(tgs[1], tgs[2]) << key.first << " M " << key.second;
    // 7B shards no parameters: there is nothing more to switch off.
    EXPECT_GE(tgs[2], tgs[3]) << key.first << " M " << key.second;
  }
}

}  // namespace
}  // namespace amsp
