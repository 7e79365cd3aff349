#include <fmt/core.h>

#include <limits>

#include "core/error.h"
#include "core/json/json.h"
#include "core/json/object_reader.h"
#include "data/embedded.h"
#include "training/model.h"

namespace amsp {
namespace {

/// Every dimension is written out; what has a default is that of the LLaMA family.
ModelSpec read_preset(ObjectReader entry) {
  const auto dimension = [&entry](const char* key) {
    return static_cast<int>(entry.integer(key, 1, std::numeric_limits<int>::max()));
  };
  ModelSpec model;
  model.name = entry.string("name");
  model.hidden = dimension("hidden");
  model.layers = dimension("layers");
  model.heads = dimension("heads");
  model.kv_heads = dimension("kv_heads");
  model.head_dim = dimension("head_dim");
  model.ffn = dimension("ffn");
  model.vocab = dimension("vocab");
  model.tied_embeddings = entry.boolean_or("tied_embeddings", false);
  model.qkv_bias = entry.boolean_or("qkv_bias", false);
  model.output_bias = entry.boolean_or("output_bias", false);
  model.mlp_bias = entry.boolean_or("mlp_bias", false);
  if (entry.choice_or("norm", {"rms_norm", "layer_norm"}, "rms_norm") == "layer_norm")
    model.norm = NormKind::kLayer;
  model.gated = entry.boolean_or("gated", true);
  if (entry.choice_or("positions", {"rotary", "learned"}, "rotary") == "learned") {
    model.positions = Positions::kLearned;
    model.max_positions = dimension("max_positions");
  }
  model.qk_norm = entry.boolean_or("qk_norm", false);
  model.fused_qkv = entry.boolean_or("fused_qkv", false);
  model.source = entry.string("source");
  entry.finish();
  return model;
}

const std::vector<ModelSpec>& presets() {
  static const std::vector<ModelSpec> all = [] {
    const Json json = parse_json(embedded("models.json"), "models.json");
    ObjectReader root(json, "models.json#");
    root.choice("schema", {"amsp.models/1"});
    std::vector<ModelSpec> models;
    for (const Json& entry : root.value("models"))
      models.push_back(read_preset(
          ObjectReader(entry, fmt::format("{}/{}", root.where("models"), models.size()))));
    root.finish();
    return models;
  }();
  return all;
}

}  // namespace

std::vector<std::string> model_preset_names() {
  std::vector<std::string> names;
  for (const ModelSpec& model : presets()) names.push_back(model.name);
  return names;
}

ModelSpec model_preset(const std::string& name) {
  for (const ModelSpec& model : presets())
    if (model.name == name) return model;
  throw InternalError(fmt::format("there is no model preset '{}'", name));
}

}  // namespace amsp
