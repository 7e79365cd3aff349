#include "topology/profile/collective_profile.h"

#include <algorithm>
#include <limits>

#include "core/error.h"
#include "core/nearest.h"
#include "core/quantity.h"

namespace amsp {
namespace {

using Point = CollectiveProfile::Point;
using Table = CollectiveProfile::Table;

double line(double x0, double y0, double x1, double y1, double x) {
  return y0 + (y1 - y0) * (x - x0) / (x1 - x0);
}

CollectiveTime time_in_table(const Table& table, double bytes) {
  const Source source = table.substituted.empty() ? Source::kMeasured : Source::kDerived;
  const Point& first = table.points.front();
  const Point& last = table.points.back();
  if (bytes < first.bytes) return {{first.seconds}, source, true, table.compute_share};
  if (bytes > last.bytes)
    return {{last.seconds * bytes / last.bytes}, source, true, table.compute_share};
  const auto above = std::lower_bound(table.points.begin(), table.points.end(), bytes,
                                      [](const Point& p, double b) { return p.bytes < b; });
  if (above->bytes == bytes) return {{above->seconds}, source, false, table.compute_share};
  const Point& below = *std::prev(above);
  const double seconds = line(below.bytes, below.seconds, above->bytes, above->seconds, bytes);
  return {{seconds}, source, false, table.compute_share};
}

/// The axis along which `mesh` varies in its family of tables: node count, or GPUs of one node.
int extent(Mesh mesh) {
  return mesh.inter == 1 ? mesh.intra : mesh.inter;
}

}  // namespace

std::optional<CollectiveProfile::Answer> CollectiveProfile::find(CollectiveKind kind, Mesh mesh,
                                                                 int nics) const {
  const bool inside = mesh.inter == 1;
  if (!inside && mesh.intra != hardware_.gpus_per_node) return std::nullopt;

  std::vector<const Table*> family;  // ascending extent
  for (const Table& table : tables_) {
    if (table.kind == kind && (table.mesh.inter == 1) == inside && (inside || table.nics == nics))
      family.push_back(&table);
  }
  const int wanted = extent(mesh);
  const auto above = std::find_if(family.begin(), family.end(), [&](const Table* table) {
    return extent(table->mesh) >= wanted;
  });
  if (above != family.end() && extent((*above)->mesh) == wanted)
    return Answer{nullptr, *above, false};
  if (above == family.begin()) return std::nullopt;
  if (above != family.end()) return Answer{*std::prev(above), *above, false};
  if (inside || family.size() < 2) return std::nullopt;
  return Answer{family[family.size() - 2], family.back(), true};
}

std::optional<CollectiveTime> CollectiveProfile::lookup(CollectiveKind kind, Mesh mesh, int nics,
                                                        Bytes bytes) const {
  if (mesh.size() == 1) return CollectiveTime{};
  const std::optional<Answer> answer = find(kind, mesh, nics);
  if (!answer) return std::nullopt;
  const auto size = static_cast<double>(bytes.value);
  const Table& high = *answer->high;
  const CollectiveTime b = time_in_table(high, size);
  if (answer->low == nullptr) return b;
  const Table& low = *answer->low;
  const CollectiveTime a = time_in_table(low, size);
  double seconds =
      line(extent(low.mesh), a.time.value, extent(high.mesh), b.time.value, extent(mesh));
  if (answer->is_beyond) seconds = std::max(seconds, b.time.value);
  return CollectiveTime{{seconds},
                        Source::kDerived,
                        answer->is_beyond || a.extrapolated || b.extrapolated,
                        high.compute_share};
}

NcclAlgorithm CollectiveProfile::algorithm(CollectiveKind kind, Mesh mesh, int nics) const {
  const std::optional<Answer> answer = find(kind, mesh, nics);
  return answer ? answer->high->algorithm : NcclAlgorithm::kRing;
}

std::string CollectiveProfile::coverage(CollectiveKind kind) const {
  std::vector<std::string> meshes;
  double least = std::numeric_limits<double>::infinity();
  double most = 0;
  for (const Table& table : tables_) {
    const bool all_nics = table.nics == 0 || table.nics == hardware_.nics_per_node;
    if (table.kind != kind || !all_nics || !table.substituted.empty()) continue;
    meshes.push_back(to_string(table.mesh));
    least = std::min(least, table.points.front().bytes);
    most = std::max(most, table.points.back().bytes);
  }
  if (meshes.empty()) return "nothing";
  return join(meshes) + " from " + format_bytes({static_cast<std::int64_t>(least)}) + " to " +
         format_bytes({static_cast<std::int64_t>(most)});
}

}  // namespace amsp
