#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "core/error.h"
#include "core/json/object_reader.h"
#include "topology/profile/collective_profile.h"
#include "topology/profile/profile_rows.h"

namespace amsp {
namespace {

using Table = CollectiveProfile::Table;

const std::map<std::string, CollectiveKind>& kinds() {
  static const std::map<std::string, CollectiveKind> by_name = [] {
    std::map<std::string, CollectiveKind> names;
    for (const auto kind : {CollectiveKind::kAllGather, CollectiveKind::kReduceScatter,
                            CollectiveKind::kAllReduce, CollectiveKind::kBroadcast})
      names[to_string(kind)] = kind;
    return names;
  }();
  return by_name;
}

std::vector<std::string> kind_names() {
  std::vector<std::string> names;
  for (const auto& [name, kind] : kinds()) names.push_back(name);
  return names;
}

NvlinkKind read_nvlink(ObjectReader& reader) {
  const std::string nvlink = reader.choice("nvlink", {"switch", "direct", "none"});
  if (nvlink == "switch") return NvlinkKind::kSwitch;
  return nvlink == "direct" ? NvlinkKind::kDirect : NvlinkKind::kNone;
}

ProfileHardware read_hardware(ObjectReader reader) {
  ProfileHardware hardware;
  hardware.gpu = reader.string("gpu");
  hardware.gpus_per_node = static_cast<int>(reader.integer("gpus_per_node", 1, 1024));
  hardware.nvlink = read_nvlink(reader);
  hardware.nvlink_bandwidth = reader.bandwidth("nvlink_bandwidth");
  hardware.nics_per_node = static_cast<int>(reader.integer("nics_per_node", 0, 1024));
  hardware.nic_bandwidth = reader.bandwidth("nic_bandwidth");
  reader.finish();
  return hardware;
}

MeasuredCapacity read_capacity(ObjectReader reader) {
  MeasuredCapacity capacity{{reader.number("bytes_per_s", 1, 1e15)}, reader.string("source")};
  reader.finish();
  return capacity;
}

Mesh read_mesh(ObjectReader& reader, const ProfileHardware& hardware) {
  const std::string text = reader.string("mesh");
  const std::optional<Mesh> mesh = parse_mesh(text);
  if (!mesh || mesh->size() == 1)
    reader.fail("mesh",
                fmt::format("must be a mesh of several GPUs such as \"8x2\", found \"{}\"", text));
  const int gpus = hardware.gpus_per_node;
  if (mesh->intra > gpus || (mesh->inter > 1 && mesh->intra != gpus)) {
    reader.fail("mesh",
                fmt::format("must be kx1 with k up to {0}, or {0}xN, found \"{1}\"", gpus, text));
  }
  return *mesh;
}

/// What ran an all-reduce, other than a ring; a switch has to be there to reduce.
NcclAlgorithm read_algorithm(ObjectReader& reader, const Table& table,
                             const ProfileHardware& hardware) {
  if (!reader.has("algorithm")) return NcclAlgorithm::kRing;
  std::vector<std::string> allowed = {"ring", "tree"};
  if (hardware.nvlink == NvlinkKind::kSwitch) allowed.emplace_back("nvls");
  if (table.mesh.inter > 1) {
    if (hardware.nvlink == NvlinkKind::kSwitch) allowed.emplace_back("nvls_tree");
    allowed.emplace_back("collnet_direct");
    allowed.emplace_back("collnet_chain");
  }
  const std::string name = reader.choice("algorithm", allowed);
  if (table.kind != CollectiveKind::kAllReduce && name != "ring")
    reader.fail("algorithm",
                fmt::format("must be ring for {}, found \"{}\"", to_string(table.kind), name));
  for (const NcclAlgorithm algorithm : kNcclAlgorithms)
    if (name == to_string(algorithm)) return algorithm;
  throw InternalError("an unchecked algorithm");
}

Table read_table(ObjectReader reader, const ProfileHardware& hardware) {
  Table table;
  table.kind = kinds().at(reader.choice("op", kind_names()));
  table.mesh = read_mesh(reader, hardware);
  const bool inside = table.mesh.inter == 1;
  table.nics = static_cast<int>(
      reader.integer("nics", inside ? 0 : 1, inside ? 0 : std::max(1, hardware.nics_per_node)));
  table.substituted = reader.has("substituted") ? reader.choice("substituted", kind_names()) : "";
  table.algorithm = read_algorithm(reader, table, hardware);
  if (reader.has("compute_share")) table.compute_share = reader.number("compute_share", 0, 1);
  reader.string("source");
  reader.allow("averaged");
  for (const ProfileRow& row : read_profile_rows(reader, "rows", {.columns = 2, .whole = 1})) {
    if (!table.points.empty()) {
      const auto& last = table.points.back();
      const std::string where = fmt::format("{}/{}", reader.where("rows"), table.points.size());
      if (row[0] <= last.bytes) throw ConfigError(where + ": bytes must grow from row to row");
      if (row[1] < last.seconds) throw ConfigError(where + ": time must not fall as bytes grow");
    }
    table.points.push_back({row[0], row[1]});
  }
  reader.finish();
  return table;
}

std::vector<Table> read_tables(ObjectReader& reader, const ProfileHardware& hardware) {
  std::vector<Table> tables;
  for (ObjectReader& entry : read_profile_objects(reader, "collectives")) {
    const Table table = read_table(entry, hardware);
    for (const Table& other : tables) {
      if (other.kind == table.kind && other.mesh == table.mesh && other.nics == table.nics)
        entry.fail(fmt::format("is a second table of {} on {}", to_string(table.kind),
                               to_string(table.mesh)));
    }
    tables.push_back(table);
  }
  const auto order = [](const Table& t) {
    return std::tuple(t.kind, t.nics, t.mesh.inter, t.mesh.intra);
  };
  std::sort(tables.begin(), tables.end(),
            [&](const Table& a, const Table& b) { return order(a) < order(b); });
  return tables;
}

}  // namespace

CollectiveProfile read_collective_profile(const Json& json, const std::string& file) {
  ObjectReader reader(json, file + "#");
  reader.choice("schema", {"amsp.profile/1"});
  CollectiveProfile profile;
  profile.name_ = reader.string("name");
  reader.string("provenance");
  profile.hardware_ = read_hardware(reader.object("hardware"));
  ObjectReader capacities = reader.object("capacities");
  profile.nic_ = read_capacity(capacities.object("nic"));
  profile.port_ = read_capacity(capacities.object("port"));
  capacities.finish();
  profile.tables_ = read_tables(reader, profile.hardware_);
  for (const char* key : {"dropped", "gemm", "attention", "memory"}) reader.allow(key);
  reader.finish();
  return profile;
}

}  // namespace amsp
