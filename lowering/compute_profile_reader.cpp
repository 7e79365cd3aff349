#include <algorithm>
#include <cmath>

#include "core/json/json.h"
#include "core/json/object_reader.h"
#include "core/nearest.h"
#include "lowering/compute_profile.h"
#include "topology/profile/profile_rows.h"

namespace amsp {
namespace {

/// Reads {"columns": [...], "rows": [[...], ...]}.
std::vector<ProfileRow> read_table(ObjectReader table, const std::vector<std::string>& columns,
                                   RowFormat format) {
  if (table.value("columns") != Json(columns))
    table.fail("columns", "must be " + join(columns) + ", in this order");
  format.columns = columns.size();
  std::vector<ProfileRow> rows = read_profile_rows(table, "rows", format);
  table.finish();
  return rows;
}

std::int64_t whole(double value) {
  return static_cast<std::int64_t>(value);
}

}  // namespace

ComputeProfile read_compute_profile(const Json& json, const std::string& file) {
  ObjectReader reader(json, file + "#");
  reader.choice("schema", {"amsp.profile/1"});
  ComputeProfile profile;

  if (reader.has("gemm")) {
    // Weight gradients in a column of their own are optional; each shape has one time or both.
    ObjectReader table = reader.object("gemm");
    const bool with_weights = table.value("columns").size() == 5;
    std::vector<std::string> columns = {"m", "k", "n", "forward_s"};
    if (with_weights) columns.emplace_back("weight_gradient_s");
    const std::vector<ProfileRow> rows =
        read_table(std::move(table), columns, {.whole = 3, .nullable = with_weights ? 2U : 0U});
    const auto fill = [&](ComputeProfile::Gemm& gemm, std::size_t column) {
      std::vector<RateCurve::Point> points;
      for (const ProfileRow& row : rows) {
        if (std::isnan(row[column])) continue;
        const auto [entry, is_new] =
            gemm.seconds.try_emplace({whole(row[0]), whole(row[1]), whole(row[2])}, row[column]);
        if (!is_new) reader.fail("gemm", "has a shape twice");
        const double work = 2 * row[0] * row[1] * row[2];
        points.push_back({std::log(work), work / row[column]});
        gemm.floor = points.size() == 1 ? row[column] : std::min(gemm.floor, row[column]);
      }
      if (!points.empty()) gemm.rate = RateCurve(std::move(points)).made_monotone();
    };
    fill(profile.gemm_, 3);
    if (with_weights) fill(profile.weight_gemm_, 4);
  }

  if (reader.has("memory")) {
    std::vector<std::string> names;
    for (const MemoryKernel kernel : memory_kernels()) names.emplace_back(to_string(kernel));
    for (ObjectReader& table : read_profile_objects(reader, "memory")) {
      const std::string name = table.choice("kernel", names);
      const auto kernel = static_cast<MemoryKernel>(
          1 + (std::find(names.begin(), names.end(), name) - names.begin()));
      const bool backward = table.boolean_or("backward", false);
      table.allow("source");
      ComputeProfile::Memory memory;
      std::vector<RateCurve::Point> points;
      for (const ProfileRow& row : read_profile_rows(table, "rows", {.columns = 2, .whole = 1})) {
        if (!memory.seconds.try_emplace(whole(row[0]), row[1]).second)
          table.fail("rows", "has a size twice");
        points.push_back({std::log(row[0]), row[0] / row[1]});
      }
      memory.rate = RateCurve(std::move(points));
      table.finish();
      if (!profile.memory_.try_emplace({kernel, backward}, std::move(memory)).second)
        reader.fail("memory", "has a kernel twice: " + name + (backward ? " backward" : ""));
    }
  }

  if (reader.has("attention")) {
    const std::vector<ProfileRow> rows =
        read_table(reader.object("attention"),
                   {"seq", "batch", "heads", "head_dim", "forward_s", "backward_s"},
                   {.whole = 4, .nullable = 2});
    const auto fill = [&](ComputeProfile::Attention& table, std::size_t column) {
      std::map<std::int64_t, std::map<std::int64_t, std::vector<RateCurve::Point>>> points;
      for (const ProfileRow& row : rows) {
        if (std::isnan(row[column])) continue;
        const auto [entry, is_new] = table.seconds.try_emplace(
            {whole(row[0]), whole(row[1]), whole(row[2]), whole(row[3])}, row[column]);
        if (!is_new) reader.fail("attention", "has a shape twice");
        const double work = row[0] * row[0] * row[1] * row[2] * row[3];
        points[whole(row[3])][whole(row[0])].push_back(
            {std::log(row[1] * row[2]), work / row[column]});
      }
      for (auto& [head_dim, by_seq] : points)
        for (auto& [seq, curve] : by_seq)
          table.by_head_dim[head_dim][seq] = RateCurve(std::move(curve));
    };
    fill(profile.forward_, 4);
    fill(profile.backward_, 5);
  }

  for (const char* key : {"name", "provenance", "hardware", "capacities", "collectives", "dropped"})
    reader.allow(key);
  reader.finish();
  return profile;
}

}  // namespace amsp
