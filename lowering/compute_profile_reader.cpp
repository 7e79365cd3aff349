#include <algorithm>
#include <cmath>

#include "core/json.h"
#include "core/nearest.h"
#include "core/object_reader.h"
#include "lowering/compute_profile.h"
#include "topology/profile_rows.h"

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
    std::vector<RateCurve::Point> points;
    for (const ProfileRow& row :
         read_table(reader.object("gemm"), {"m", "k", "n", "forward_s"}, {.whole = 3})) {
      const auto [entry, is_new] =
          profile.gemm_seconds_.try_emplace({whole(row[0]), whole(row[1]), whole(row[2])}, row[3]);
      if (!is_new) reader.fail("gemm", "has a shape twice");
      const double work = 2 * row[0] * row[1] * row[2];
      points.push_back({std::log(work), work / row[3]});
      profile.gemm_floor_ = points.size() == 1 ? row[3] : std::min(profile.gemm_floor_, row[3]);
    }
    profile.gemm_rate_ = RateCurve(std::move(points)).made_monotone();
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
