#pragma once

#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "tests/prediction/predicted.h"

namespace amsp {

/// A row of the paper's Table V: 64 A800 GPUs.
struct TableVRow {
  std::string model, overlap;
  int micro_batches = 0;
  double reference_tgs = 0;  // tokens per GPU and second
  bool doubtful = false;     // the paper's figure breaks an otherwise linear series

  double error_of(double tgs) const { return tgs / reference_tgs - 1; }
};

inline std::vector<TableVRow> table_v() {
  std::ifstream file(AMSP_SOURCE_DIR "/tests/prediction/data/table_v.csv");
  std::vector<TableVRow> rows;
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

/// The same case, predicted from measurements of single kernels and collectives.
inline double predicted_tgs(const TableVRow& row) {
  std::vector<std::string> engine = {"engine.preset=amsp"};
  if (row.overlap != "full") engine.emplace_back("engine.overlap.broadcast=false");
  if (row.overlap == "noBC_noAR" || row.overlap == "none")
    engine.emplace_back("engine.overlap.all_reduce=false");
  if (row.overlap == "none") engine.emplace_back("engine.overlap.gather=false");
  return predict(paper_scenario(row.model, 8, row.micro_batches, engine))
      .prediction.tokens_per_gpu_second;
}

}  // namespace amsp
