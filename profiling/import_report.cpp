#include "profiling/import_report.h"

#include <fmt/format.h>

#include <filesystem>

#include "core/json/json.h"
#include "core/quantity.h"
#include "core/text_table.h"

namespace amsp {

std::vector<std::string> capacity_notes(const LogImport& imported, const ClusterSpec& cluster) {
  std::vector<std::string> notes;
  bool has_inside = false, has_over = false;  // rings, whose rates are capacities
  for (const MeasuredTable& table : imported.profile.tables)
    if (table.algorithm == NcclAlgorithm::kRing)
      (table.mesh.inter == 1 ? has_inside : has_over) = true;
  const auto check = [&](const MeasuredCapacity& measured, BytesPerSec capacity, const char* key) {
    if (capacity.value <= 0 || measured.rate <= capacity) return;
    notes.push_back(
        fmt::format("{} of cluster '{}' is {}, but {} was measured ({}): a scenario has to state "
                    "at least that",
                    key, cluster.name, format_bandwidth(capacity), format_bandwidth(measured.rate),
                    measured.source));
  };
  const NodeSpec& node = cluster.node;
  if (has_inside && node.nvlink != NvlinkKind::kNone)
    check(imported.profile.port, node.nvlink_capacity, "node.nvlink.capacity");
  if (has_over) check(imported.profile.nic, node.nic_capacity, "node.nics.capacity");
  return notes;
}

std::string import_text(const LogImport& imported, const std::string& output) {
  TextTable table({"operation", "mesh", "sizes", "from", "to", "log rows", "best bus bandwidth"});
  for (const ImportedTable& t : imported.tables)
    table.add({to_string(t.kind), to_string(t.mesh), std::to_string(t.sizes),
               format_bytes({t.least_bytes}), format_bytes({t.most_bytes}),
               std::to_string(t.measurements), format_bandwidth(t.best_bus_bandwidth)});
  std::string text = table.str() + "\n";
  for (const std::string& line : imported.notes) text += "- " + line + "\n";
  if (output.empty())
    text += "nothing is written; --output NAME.json writes the profile\n";
  else
    text +=
        fmt::format("{}: use it by \"profile\": \"{}\" in the cluster of a scenario beside it\n",
                    output, std::filesystem::path(output).filename().string());
  return text;
}

OrderedJson import_json(const LogImport& imported, const std::string& output) {
  OrderedJson json;
  json["schema"] = "amsp.import/1";
  json["profile"] = output.empty() ? OrderedJson() : OrderedJson(output);
  json["tables"] = OrderedJson::array();
  for (const ImportedTable& t : imported.tables)
    json["tables"].push_back({{"op", to_string(t.kind)},
                              {"mesh", to_string(t.mesh)},
                              {"sizes", t.sizes},
                              {"least_bytes", t.least_bytes},
                              {"most_bytes", t.most_bytes},
                              {"log_rows", t.measurements},
                              {"best_bus_bandwidth_bytes_per_s", t.best_bus_bandwidth.value},
                              {"files", t.files}});
  json["capacities"] = profile_json(imported.profile).at("capacities");
  json["notes"] = imported.notes;
  return json;
}

}  // namespace amsp
