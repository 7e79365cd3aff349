#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "core/json/json.h"
#include "data/embedded.h"
#include "kernels/kernel_table.h"

namespace amsp {
namespace {

/// Rows of measurements that the tables leave out, drawn at random (tools/import_kernel_tables.py).
std::vector<std::vector<std::string>> rows_of(const std::string& name) {
  std::ifstream file(AMSP_SOURCE_DIR "/tests/kernels/data/" + name);
  std::vector<std::vector<std::string>> rows;
  std::string line;
  std::getline(file, line);  // the head
  while (std::getline(file, line)) {
    std::istringstream fields(line);
    rows.emplace_back();
    for (std::string field; std::getline(fields, field, ',');) rows.back().push_back(field);
  }
  return rows;
}

std::map<std::string, KernelTable> all_tables() {
  std::map<std::string, KernelTable> tables;
  for (const std::string& name : kernel_table_names())
    tables.emplace(name, kernel_table_named(name));
  return tables;
}

/// What the file claims of a table: {"median": ..., "p90": ..., "max": ...}.
Json claim(const std::string& gpu, const char* list, const char* key, const std::string& value) {
  const std::string file = "kernels/" + gpu + ".json";
  const Json json = parse_json(embedded(file), file);
  for (const Json& entry : json[list])
    if (entry[key] == value) return entry["left_out"]["between"];
  return {};
}

/// Drawn rows keep to the claim of all: as the sample is finite, the median within a factor 1.6 and
/// four of five rows instead of nine of ten within p90; all within the greatest.
void expect_within(const Json& claimed, std::vector<double> errors) {
  std::sort(errors.begin(), errors.end());
  EXPECT_LE(errors[errors.size() / 2], 1.6 * claimed["median"].get<double>());
  EXPECT_LE(errors[errors.size() * 4 / 5], claimed["p90"].get<double>());
  EXPECT_LE(errors.back(), claimed["max"].get<double>() + 1e-3);
  // A claim much wider than the truth would say nothing.
  EXPECT_GE(errors[errors.size() / 2], claimed["median"].get<double>() / 2.5);
}

TEST(LeftOut, GemmsLieWithinTheClaimedErrors) {
  std::map<std::pair<std::string, std::string>, std::vector<double>> errors;
  const std::map<std::string, KernelTable> tables = all_tables();
  for (const auto& row : rows_of("left_out_gemm.csv")) {
    const auto type = row[1] == "bf16" ? GemmType::kBf16 : GemmType::kFp8;
    const KernelTime time =
        tables.at(row[0])
            .gemm(type, std::stoll(row[2]), std::stoll(row[4]), std::stoll(row[3]), Clock::kBurst)
            .value();
    EXPECT_EQ(time.source, Source::kDerived);
    errors[{row[0], row[1]}].push_back(std::abs(time.time.value / std::stod(row[5]) - 1));
  }
  EXPECT_EQ(errors.size(), 17);  // nine GPUs in bf16, eight in fp8
  for (const auto& [table, list] : errors) {
    SCOPED_TRACE(table.first + " " + table.second);
    EXPECT_EQ(list.size(), 60);
    expect_within(claim(table.first, "gemm", "type", table.second), list);
  }
}

TEST(LeftOut, AttentionLiesWithinTheClaimedErrors) {
  std::map<std::pair<std::string, std::string>, std::vector<double>> errors;
  const std::map<std::string, KernelTable> tables = all_tables();
  for (const auto& row : rows_of("left_out_attention.csv")) {
    const auto kernel = row[1] == "flash2"   ? AttentionKernel::kFlash2
                        : row[1] == "flash3" ? AttentionKernel::kFlash3
                                             : AttentionKernel::kCudnn;
    const AttentionShape shape{.seq = std::stoll(row[3]),
                               .batch = std::stoll(row[2]),
                               .heads = std::stoll(row[4]),
                               .head_dim = std::stoll(row[6])};
    const KernelTime time = tables.at(row[0]).attention(kernel, false, shape).value();
    errors[{row[0], row[1]}].push_back(std::abs(time.time.value / std::stod(row[7]) - 1));
  }
  EXPECT_EQ(errors.size(), 9);
  for (const auto& [table, list] : errors) {
    SCOPED_TRACE(table.first + " " + table.second);
    EXPECT_EQ(list.size(), 60);
    expect_within(claim(table.first, "attention", "kernel", table.second), list);
  }
}

}  // namespace
}  // namespace amsp
