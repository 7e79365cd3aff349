#include <fmt/core.h>

#include <filesystem>

#include "core/error.h"
#include "core/nearest.h"
#include "scenario/hf_config.h"
#include "scenario/model_dimensions.h"
#include "scenario/readers.h"

namespace amsp {

namespace {

namespace limit = dimension_limit;

constexpr const char* kDimensions[] = {"hidden",   "layers",      "heads",   "kv_heads",
                                       "head_dim", "ffn",         "vocab",   "tied_embeddings",
                                       "qkv_bias", "output_bias", "mlp_bias"};

/// How the matrix products are cut; doesn't change the model itself.
void read_fusion(ObjectReader& model, ModelSpec& spec) {
  spec.fused_qkv = model.boolean_or("fused_qkv", spec.fused_qkv);
  spec.fused_gate_up = model.boolean_or("fused_gate_up", spec.fused_gate_up);
}

void read_name(ObjectReader& model, ModelSpec& spec) {
  spec.name = model.string_or("name", spec.name);
  if (spec.name.empty()) model.fail("name", "must not be empty");
}

void read_switches(ObjectReader& model, ModelSpec& spec) {
  spec.tied_embeddings = model.boolean_or("tied_embeddings", spec.tied_embeddings);
  spec.qkv_bias = model.boolean_or("qkv_bias", spec.qkv_bias);
  spec.output_bias = model.boolean_or("output_bias", spec.output_bias);
  spec.mlp_bias = model.boolean_or("mlp_bias", spec.mlp_bias);
  read_fusion(model, spec);
}

ModelSpec read_explicit(ObjectReader& model) {
  ModelSpec spec{.name = "custom", .source = "the scenario"};
  read_name(model, spec);
  spec.hidden = read_dimension(model, "hidden", limit::kHidden);
  spec.layers = read_dimension(model, "layers", limit::kLayers);
  spec.heads = read_dimension(model, "heads", limit::kHeads);
  spec.kv_heads = static_cast<int>(model.integer_or("kv_heads", 1, limit::kHeads, spec.heads));
  check_kv_heads(model, "kv_heads", spec.heads, spec.kv_heads);
  spec.head_dim = model.has("head_dim") ? read_dimension(model, "head_dim", limit::kHeadDim)
                                        : derive_head_dim(model, "heads", spec.hidden, spec.heads);
  spec.ffn = read_dimension(model, "ffn", limit::kFfn);
  spec.vocab = read_dimension(model, "vocab", limit::kVocab);
  read_switches(model, spec);
  return spec;
}

/// Dimensions that follow from others in the preset follow the overridden ones: kv_heads where
/// it was heads, head_dim where it was hidden / heads.
ModelSpec read_preset(ObjectReader& model) {
  const ModelSpec preset = model_preset(model.choice("preset", model_preset_names()));
  const auto dimension = [&model](const char* key, int high, int fallback) {
    return static_cast<int>(model.integer_or(key, 1, high, fallback));
  };
  ModelSpec spec = preset;
  spec.hidden = dimension("hidden", limit::kHidden, preset.hidden);
  spec.layers = dimension("layers", limit::kLayers, preset.layers);
  spec.heads = dimension("heads", limit::kHeads, preset.heads);
  const bool all_heads = preset.kv_heads == preset.heads;
  spec.kv_heads = dimension("kv_heads", limit::kHeads, all_heads ? spec.heads : preset.kv_heads);
  check_kv_heads(model, "kv_heads", spec.heads, spec.kv_heads);
  const bool same_heads = spec.hidden == preset.hidden && spec.heads == preset.heads;
  spec.head_dim = model.has("head_dim") ? read_dimension(model, "head_dim", limit::kHeadDim)
                  : same_heads          ? preset.head_dim
                                        : derive_head_dim(model, "heads", spec.hidden, spec.heads);
  spec.ffn = dimension("ffn", limit::kFfn, preset.ffn);
  spec.vocab = dimension("vocab", limit::kVocab, preset.vocab);
  read_switches(model, spec);
  bool changed = false;
  for (const char* key : kDimensions) changed = changed || model.has(key);
  // so that nobody takes it for the preset, the named plan `amsp` least of all
  if (changed) {
    spec.name = preset.name + "-changed";
    spec.source = preset.source + "; changed by the scenario";
  }
  read_name(model, spec);
  return spec;
}

ModelPart read_hf(ObjectReader& model, const std::string& file) {
  const std::string given = model.string("hf_config");
  const std::string path = (std::filesystem::path(file).parent_path() / given).string();
  Json config;
  try {
    config = read_json_file(path);
  } catch (const ConfigError& error) {
    model.fail("hf_config", error.what());
  }
  ModelPart part = read_hf_config(config, path);
  read_name(model, part.spec);
  read_fusion(model, part.spec);
  return part;
}

}  // namespace

ModelPart read_model(ObjectReader model, const std::string& file) {
  const bool preset = model.has("preset");
  const bool hf_config = model.has("hf_config");
  if (preset && hf_config) model.fail("gives both 'preset' and 'hf_config'; only one can hold");
  ModelPart part;
  if (hf_config)
    part = read_hf(model, file);
  else
    part.spec = preset ? read_preset(model) : read_explicit(model);
  model.finish();
  return part;
}

}  // namespace amsp
