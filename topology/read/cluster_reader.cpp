#include "topology/read/cluster_reader.h"

#include <fmt/core.h>

#include <algorithm>

#include "data/embedded.h"
#include "topology/profile/profile_source.h"
#include "topology/read/collectives_reader.h"
#include "topology/read/fabric_reader.h"
#include "topology/read/gpu_reader.h"
#include "topology/read/node_reader.h"
#include "topology/read/presets.h"
#include "topology/read/rate_reader.h"

namespace amsp {
namespace {

constexpr int kMaxNodes = 1 << 20;
constexpr const char* kGiven = "given by the scenario";

/// Objects are merged, everything else is replaced. (Json::merge_patch would let null erase.)
void override_with(Json& base, const Json& changes) {
  if (!base.is_object() || !changes.is_object()) {
    base = changes;
    return;
  }
  for (const auto& [key, value] : changes.items()) override_with(base[key], value);
}

/// Whether `user` gives a preset's `key` another value.
bool changes(const Json& base, const Json& user, const char* key) {
  return base.contains(key) && user.contains(key) && base[key] != user[key];
}

void override_node(Json& base, ObjectReader user) {
  const Json& node = user.value("node");
  if (base.is_object() && node.is_object()) {
    if (node.contains("links"))
      for (const char* part : {"nvlink", "pcie"}) base.erase(part);
    if (node.contains("nvlink")) base.erase("links");
    if (node.contains("nccl_topology"))
      for (const char* part : {"gpus", "nvlink", "pcie", "nics", "links"}) base.erase(part);
    for (const char* part : {"nvlink", "pcie", "nics"}) {
      if (!node.contains(part) || !node[part].is_object()) continue;
      if (changes(base[part], node[part], "kind"))
        base[part] = Json::object();
      else if (changes(base[part], node[part], "bandwidth") && !node[part].contains("capacity"))
        user.object("node").object(part).fail(
            "bandwidth",
            fmt::format("replaces the preset's {}, at which its capacity of {} was "
                        "measured; give 'capacity' as well",
                        describe(base[part]["bandwidth"]), describe(base[part]["capacity"])));
    }
  }
  override_with(base, node);
}

std::vector<std::string> profile_names() {
  std::vector<std::string> profiles{"none"};
  const std::string folder = "profiles/", suffix = ".json";
  for (const std::string& file : embedded_names(folder))
    profiles.push_back(file.substr(folder.size(), file.size() - folder.size() - suffix.size()));
  return profiles;
}

/// A profile of ours by name, or a file (*.json), relative to the scenario's folder.
std::string read_profile_name(ObjectReader& reader, const std::string& folder) {
  if (reader.has("profile") && reader.value("profile").is_string()) {
    const std::string name = reader.string("profile");
    if (is_profile_file(name))
      return folder.empty() || name.starts_with('/') ? name : folder + "/" + name;
  }
  return reader.choice("profile", profile_names());
}

std::string join_sources(const std::map<std::string, std::string>& sources) {
  std::string text;
  for (const auto& [figure, source] : sources)
    text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", figure, source);
  return text;
}

/// `gpu` is a preset's name, or an object; then `base` names the preset that it changes, if any.
GpuSpec read_cluster_gpu(ObjectReader& reader, const std::string& base) {
  if (!reader.has("gpu") || !reader.value("gpu").is_object()) {
    const std::string name =
        reader.has("gpu") || base.empty() ? reader.choice("gpu", names(gpu_presets())) : base;
    const Preset& preset = gpu_presets().at(name);
    GpuSpec gpu = read_gpu(ObjectReader(preset.description, "gpus.json#/gpus/" + name));
    gpu.source = join_sources(preset.sources);
    return gpu;
  }
  const Json& user = reader.value("gpu");
  Preset preset = base.empty() ? Preset{} : gpu_presets().at(base);
  if (base.empty()) preset.description = Json::object();
  for (const auto& [figure, value] : user.items()) {
    preset.description[figure] = value;
    if (figure != "name") preset.sources[figure] = kGiven;
  }
  GpuSpec gpu = read_gpu(ObjectReader(preset.description, reader.where("gpu")));
  gpu.source = join_sources(preset.sources);
  return gpu;
}

/// Without a measurement, what a stated transport leaves for payload.
void apply_transport(ClusterSpec& spec, const Json& node) {
  if (node.contains("nics") && node["nics"].contains("capacity")) return;
  spec.node.nic_capacity =
      std::min(spec.node.nic_capacity, spec.fabric.efficiency * spec.node.nic_bandwidth);
}

}  // namespace

ClusterSpec read_cluster(ObjectReader user, const std::string& folder) {
  Json json = Json::object();
  std::string base_gpu;
  if (user.has("preset")) {
    json = cluster_presets().at(user.choice("preset", names(cluster_presets()))).description;
    base_gpu = json["gpu"].get<std::string>();
  }
  for (const char* key : {"name", "nodes", "fabric", "profile", "profile_policy", "collectives"})
    if (user.has(key)) {
      if (std::string(key) == "fabric") drop_overridden_fabric(json[key], user.value(key));
      override_with(json[key], user.value(key));
    }
  if (user.has("node")) override_node(json["node"], user);
  user.allow("gpu");
  user.finish();

  ClusterSpec spec;
  ObjectReader reader(json, user.where());
  // known from the start, so that a missing key is not taken for a misspelling of another
  for (const char* key : {"name", "nodes", "gpu", "node", "fabric"}) reader.allow(key);
  spec.name = reader.string("name");
  spec.nodes = static_cast<int>(reader.integer("nodes", 1, kMaxNodes));
  spec.gpu = read_cluster_gpu(user, base_gpu);
  spec.node = read_node(reader.object("node"), spec.nodes, spec.gpu, folder);
  if (reader.has("fabric") && spec.node.nics == 0)
    reader.fail("fabric", "connects NICs, of which the node has none");
  if (reader.has("fabric") || spec.nodes > 1) {
    spec.fabric = read_fabric(reader.object("fabric"), spec);
    apply_transport(spec, json["node"]);
  }
  spec.profile = read_profile_name(reader, folder);
  if (spec.profile == "none") spec.profile.clear();
  const std::string policy = reader.choice_or("profile_policy", {"derive", "strict"}, "derive");
  spec.profile_strict = policy == "strict";
  default_collectives(spec);
  if (reader.has("collectives")) {
    ObjectReader collectives = reader.object("collectives");
    read_collectives(collectives, spec);
    if (spec.nccl.sharp && json.contains("fabric") &&
        json["fabric"].value("transport", "") == "roce")
      collectives.fail("sharp", "needs InfiniBand switches; the fabric's transport is roce");
  }
  reader.finish();
  return spec;
}

}  // namespace amsp
