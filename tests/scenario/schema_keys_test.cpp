#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "data/embedded.h"
#include "tests/scenario/bad_scenario.h"
#include "topology/read/presets.h"
#include "training/model.h"
#include "training/optimizers.h"

namespace amsp {
namespace {

/// Keys by the JSON pointer of their object.
using Keys = std::map<std::string, std::set<std::string>>;

constexpr const char* kUnknown = "no_such_key";
constexpr const char* kFullScenarios[] = {"full-explicit.json", "full-preset.json", "full-hf.json",
                                          "full-links.json", "full-dump.json"};

Json schema() {
  return read_json_file(AMSP_SOURCE_DIR "/scenarios/amsp.scenario.schema.json");
}

/// All keys that the schema lists, over all alternatives of an object.
void collect(const Json& root, const Json& node, const std::string& pointer, Keys& keys) {
  if (node.contains("$ref"))
    collect(root, root.at(Json::json_pointer(node["$ref"].get<std::string>().substr(1))), pointer,
            keys);
  if (node.contains("oneOf"))
    for (const Json& alternative : node["oneOf"]) collect(root, alternative, pointer, keys);
  if (!node.contains("properties")) return;
  EXPECT_EQ(node.value("additionalProperties", Json()), false) << pointer;
  for (const auto& [key, property] : node["properties"].items()) {
    keys[pointer].insert(key);
    collect(root, property, pointer + "/" + key, keys);
  }
}

/// The keys that the reader would have allowed, from its answer to one that it doesn't know.
std::set<std::string> allowed_keys(const std::string& message) {
  const std::string begin = "(allowed: ";
  const std::size_t at = message.find(begin);
  std::set<std::string> keys;
  if (at == std::string::npos) return keys;
  std::string key;
  for (std::size_t i = at + begin.size(); i < message.size(); ++i) {
    if (message[i] != ',' && message[i] != ')') {
      if (message[i] != ' ') key += message[i];
      continue;
    }
    keys.insert(key);
    key.clear();
  }
  return keys;
}

/// Adds an unknown key to every object of `scenario` in turn; the reader has to refuse each.
void ask_reader(const Json& scenario, const Json::json_pointer& pointer, Keys& keys) {
  const Json& object = scenario[pointer];
  if (!object.is_object()) return;
  Json changed = scenario;
  changed[pointer][kUnknown] = 1;
  const Outcome outcome = outcome_of(changed);
  const std::string where = "s.json#" + pointer.to_string() + "/" + kUnknown;
  EXPECT_THAT(outcome.message, testing::StartsWith(where + ": is not a known key"));
  keys[pointer.to_string()].merge(allowed_keys(outcome.message));
  for (const auto& [key, value] : object.items()) ask_reader(scenario, pointer / key, keys);
}

TEST(Schema, HasTheKeysOfTheReaderAndNoOther) {
  Keys in_schema;
  collect(schema(), schema(), "", in_schema);
  Keys in_reader;
  for (const char* file : kFullScenarios) {
    const Json scenario = read_json_file(data_folder() + "/" + file);
    EXPECT_EQ(outcome_of(scenario).message, "") << file;
    ask_reader(scenario, Json::json_pointer(), in_reader);
  }
  EXPECT_EQ(in_reader, in_schema);
}

/// What is in the file was read by the test above without complaint, hence is known.
TEST(Schema, HasNoKeyThatNoTestUses) {
  Keys in_schema;
  collect(schema(), schema(), "", in_schema);
  for (const auto& [pointer, keys] : in_schema)
    for (const std::string& key : keys) {
      bool used = false;
      for (const char* file : kFullScenarios)
        used = used || read_json_file(data_folder() + "/" + file)
                           .contains(Json::json_pointer(pointer + "/" + key));
      EXPECT_TRUE(used) << pointer << "/" << key;
    }
}

std::vector<std::string> enumeration(const char* pointer) {
  return schema().at(Json::json_pointer(pointer)).get<std::vector<std::string>>();
}

TEST(Schema, ListsThePresets) {
  EXPECT_EQ(enumeration("/$defs/model/properties/preset/enum"), model_preset_names());
  EXPECT_EQ(enumeration("/$defs/optimizer_name/enum"), optimizer_names());
  EXPECT_EQ(enumeration("/$defs/cluster/properties/preset/enum"), names(cluster_presets()));
  EXPECT_EQ(enumeration("/$defs/gpu_name/enum"), names(gpu_presets()));
  std::vector<std::string> files;  // of the profiles, behind "none"
  for (const std::string& profile : enumeration("/$defs/cluster/properties/profile/anyOf/0/enum"))
    files.push_back("profiles/" + profile + ".json");
  files.erase(files.begin());
  EXPECT_EQ(files, embedded_names("profiles/"));
}

TEST(Schema, SaysWhichPresetsLeaveTheNodesToTheScenario) {
  std::vector<std::string> without_nodes;
  for (const auto& [name, preset] : cluster_presets())
    if (!preset.description.contains("nodes")) without_nodes.push_back(name);
  EXPECT_EQ(enumeration("/$defs/cluster/then/if/properties/preset/enum"), without_nodes);
}

}  // namespace
}  // namespace amsp
