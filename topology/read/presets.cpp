#include "topology/read/presets.h"

#include "core/json/object_reader.h"
#include "data/embedded.h"

namespace amsp {
namespace {

/// Reads {"schema": "amsp.KIND/1", KIND: {NAME: {..., "sources": {PATH: text}}}}.
Presets read_presets(const std::string& kind) {
  const std::string file = kind + ".json";
  const Json json = parse_json(embedded(file), file);
  ObjectReader root(json, file + "#");
  root.choice("schema", {"amsp." + kind + "/1"});
  ObjectReader entries = root.object(kind);
  root.finish();

  Presets presets;
  for (const auto& [name, description] : json[kind].items()) {
    ObjectReader entry = entries.object(name);
    ObjectReader sources = entry.object("sources");
    Preset& preset = presets[name];
    for (const auto& [path, text] : description["sources"].items())
      preset.sources[path] = sources.string(path);
    preset.description = description;
    preset.description.erase("sources");
    preset.description["name"] = name;
  }
  return presets;
}

}  // namespace

const Presets& cluster_presets() {
  static const Presets presets = read_presets("clusters");
  return presets;
}

const Presets& gpu_presets() {
  static const Presets presets = read_presets("gpus");
  return presets;
}

std::vector<std::string> names(const Presets& presets) {
  std::vector<std::string> all;
  for (const auto& [name, preset] : presets) all.push_back(name);
  return all;
}

}  // namespace amsp
