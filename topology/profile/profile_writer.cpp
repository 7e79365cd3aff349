#include "topology/profile/profile_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <tuple>

#include "core/error.h"
#include "core/json/json.h"
#include "topology/collective/collective.h"

namespace amsp {
namespace {

int nics_used(Mesh mesh, const ProfileHardware& hardware) {
  return mesh.inter == 1 ? 0 : hardware.nics_per_node;
}

std::string rate_text(BytesPerSec rate) {
  return fmt::format("{:.17g}B/s", rate.value);
}

/// Nine digits are more than any clock has, and 732.93 us stays 0.00073293.
double rounded(double seconds) {
  return std::strtod(fmt::format("{:.9g}", seconds).c_str(), nullptr);
}

OrderedJson hardware_json(const ProfileHardware& hardware) {
  return {{"gpu", hardware.gpu},
          {"gpus_per_node", hardware.gpus_per_node},
          {"nvlink", to_string(hardware.nvlink)},
          {"nvlink_bandwidth", rate_text(hardware.nvlink_bandwidth)},
          {"nics_per_node", hardware.nics_per_node},
          {"nic_bandwidth", rate_text(hardware.nic_bandwidth)}};
}

OrderedJson capacity_json(const MeasuredCapacity& capacity) {
  return {{"bytes_per_s", static_cast<std::int64_t>(std::ceil(capacity.rate.value))},
          {"source", capacity.source}};
}

OrderedJson table_json(const MeasuredTable& table, const ProfileHardware& hardware) {
  OrderedJson rows = OrderedJson::array();
  for (const auto& [bytes, seconds] : table.seconds) rows.push_back({bytes, rounded(seconds)});
  OrderedJson json = {{"op", to_string(table.kind)},
                      {"mesh", to_string(table.mesh)},
                      {"nics", nics_used(table.mesh, hardware)}};
  if (table.algorithm != NcclAlgorithm::kRing) json["algorithm"] = to_string(table.algorithm);
  if (table.compute_share)
    json["compute_share"] = std::round(1e4 * *table.compute_share) / 1e4;  // noise beyond
  json["source"] = table.source;
  json["rows"] = std::move(rows);
  return json;
}

OrderedJson dropped_json(const DroppedRow& row, const ProfileHardware& hardware) {
  return {{"op", to_string(row.kind)},
          {"mesh", to_string(row.mesh)},
          {"nics", nics_used(row.mesh, hardware)},
          {"bytes", row.bytes},
          {"seconds", rounded(row.seconds)},
          {"reason",
           fmt::format("slower than {} bytes ({:.6g} s)", row.larger_bytes, row.larger_seconds)}};
}

/// On one line. Names of files and GPUs may be any bytes.
std::string dumped(const OrderedJson& json) {
  return json.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
}

/// "[", the elements of a list one a line, "]".
std::string lines(const OrderedJson& list, const std::string& indent) {
  if (list.empty()) return "[]";
  std::string text = "[";
  for (const OrderedJson& element : list)
    text += (text.size() > 1 ? ",\n" : "\n") + indent + "  " + dumped(element);
  return text + "\n" + indent + "]";
}

/// An object whose "rows" stand one a line, everything else on the first.
std::string table_text(OrderedJson table, const std::string& indent) {
  const std::string rows = lines(table.at("rows"), indent);
  table.erase("rows");
  std::string head = dumped(table);
  head.pop_back();
  return head + (table.empty() ? "" : ",") + "\"rows\":" + rows + "}";
}

}  // namespace

const char* to_string(NvlinkKind kind) {
  switch (kind) {
    case NvlinkKind::kNone:
      return "none";
    case NvlinkKind::kSwitch:
      return "switch";
    case NvlinkKind::kDirect:
      return "direct";
  }
  throw InternalError("an NvlinkKind outside its enumeration");
}

ProfileHardware hardware_of(const ClusterSpec& cluster) {
  return {cluster.gpu.name,    cluster.node.gpus,
          cluster.node.nvlink, cluster.node.nvlink_bandwidth,
          cluster.node.nics,   cluster.node.nic_bandwidth};
}

BytesPerSec best_bus_bandwidth(const MeasuredTable& table) {
  double best = 0;
  for (const auto& [bytes, seconds] : table.seconds)
    best = std::max(best, static_cast<double>(bytes) / seconds);
  return BytesPerSec{hop_share(table.kind, table.mesh.size()) * best};
}

void drop_falling_times(ProfileDraft& draft) {
  for (MeasuredTable& table : draft.tables) {
    std::vector<DroppedRow> dropped;
    std::map<std::int64_t, double> kept;
    for (auto row = table.seconds.rbegin(); row != table.seconds.rend(); ++row) {
      const auto larger = kept.begin();
      if (larger != kept.end() && row->second > larger->second)
        dropped.push_back(
            {table.kind, table.mesh, row->first, row->second, larger->first, larger->second});
      else
        kept.emplace_hint(kept.begin(), *row);
    }
    table.seconds = std::move(kept);
    draft.dropped.insert(draft.dropped.end(), dropped.rbegin(), dropped.rend());
  }
}

void set_best_rates(ProfileDraft& draft) {
  MeasuredCapacity nic, port;
  for (const MeasuredTable& table : draft.tables) {
    const bool inside = table.mesh.inter == 1;
    const int nics = nics_used(table.mesh, draft.hardware);
    if ((!inside && nics == 0) || table.algorithm != NcclAlgorithm::kRing) continue;
    MeasuredCapacity& best = inside ? port : nic;
    for (const auto& [bytes, seconds] : table.seconds) {
      const double rate = hop_share(table.kind, table.mesh.size()) * static_cast<double>(bytes) /
                          seconds / std::max(1, nics);
      if (rate > best.rate.value)
        best = {BytesPerSec{rate},
                fmt::format("bus bandwidth of {} on {}, {} bytes{}", to_string(table.kind),
                            to_string(table.mesh), bytes,
                            inside ? "" : fmt::format(", divided by {} NICs", nics))};
    }
  }
  if (nic.rate.value > 0) draft.nic = nic;
  if (port.rate.value > 0) draft.port = port;
}

OrderedJson profile_json(const ProfileDraft& draft) {
  std::vector<const MeasuredTable*> tables;
  for (const MeasuredTable& table : draft.tables)
    if (!table.seconds.empty()) tables.push_back(&table);
  const auto order = [](const MeasuredTable* table) {
    return std::tuple(table->kind, table->mesh.inter, table->mesh.intra);
  };
  std::stable_sort(tables.begin(), tables.end(),
                   [&](const auto* a, const auto* b) { return order(a) < order(b); });

  OrderedJson profile;
  profile["schema"] = "amsp.profile/1";
  profile["name"] = draft.name;
  profile["provenance"] = draft.provenance;
  profile["hardware"] = hardware_json(draft.hardware);
  profile["capacities"] = {{"nic", capacity_json(draft.nic)}, {"port", capacity_json(draft.port)}};
  profile["collectives"] = OrderedJson::array();
  for (const MeasuredTable* table : tables)
    profile["collectives"].push_back(table_json(*table, draft.hardware));
  profile["dropped"] = OrderedJson::array();
  for (const DroppedRow& row : draft.dropped)
    profile["dropped"].push_back(dropped_json(row, draft.hardware));
  return profile;
}

std::string profile_text(const OrderedJson& profile) {
  std::string text;
  for (const auto& [key, value] : profile.items()) {
    text += (text.empty() ? "{\n  " : ",\n  ") + dumped(key) + ": ";
    if (key == "collectives") {
      std::string tables;
      for (const OrderedJson& table : value)
        tables += (tables.empty() ? "\n    " : ",\n    ") + table_text(table, "    ");
      text += "[" + tables + (tables.empty() ? "]" : "\n  ]");
    } else if (value.is_object() && value.contains("rows")) {
      text += table_text(value, "  ");
    } else {
      text += value.is_array() ? lines(value, "  ") : dumped(value);
    }
  }
  return text + "\n}\n";
}

}  // namespace amsp
