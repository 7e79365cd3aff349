#include <fmt/core.h>

#include <algorithm>
#include <filesystem>

#include "core/error.h"
#include "core/nearest.h"
#include "scenario/hf_config.h"
#include "scenario/model_dimensions.h"
#include "scenario/readers.h"

namespace amsp {

namespace {

namespace limit = dimension_limit;

constexpr const char* kDimensions[] = {
    "hidden",      "layers",        "heads",           "kv_heads", "head_dim",  "ffn",
    "vocab",       "max_positions", "tied_embeddings", "qkv_bias", "norm_bias", "norm",
    "output_bias", "mlp_bias",      "gated",           "qk_norm",  "positions",
};

/// How the matrix products are cut; doesn't change the model itself.
void read_fusion(ObjectReader& model, ModelSpec& spec) {
  spec.fused_qkv = model.boolean_or("fused_qkv", spec.fused_qkv);
  spec.fused_gate_up = model.boolean_or("fused_gate_up", spec.fused_gate_up);
  if (spec.fused_gate_up && !spec.gated)
    model.fail("fused_gate_up", "must be false: the model's feed-forward network has no gate");
}

void read_name(ObjectReader& model, ModelSpec& spec) {
  spec.name = model.string_or("name", spec.name);
  if (spec.name.empty()) model.fail("name", "must not be empty");
}

/// The one of `names`, which are those of the enumerators in order.
template <class Enum>
Enum read_enum(ObjectReader& model, const char* key, const std::vector<std::string>& names,
               Enum fallback) {
  const std::string name = model.choice_or(key, names, names[static_cast<std::size_t>(fallback)]);
  return static_cast<Enum>(std::find(names.begin(), names.end(), name) - names.begin());
}

void read_norm(ObjectReader& model, ModelSpec& spec) {
  spec.norm = read_enum(model, "norm", {"rms_norm", "layer_norm"}, spec.norm);
  spec.norm_bias = model.boolean_or("norm_bias", spec.norm_bias);
  if (model.has("norm_bias") && spec.norm != NormKind::kLayer)
    model.fail("norm_bias", "must not be given: only a layer_norm has a bias");
}

void read_positions(ObjectReader& model, ModelSpec& spec) {
  spec.positions =
      read_enum(model, "positions", {"rotary", "learned", "alibi", "none"}, spec.positions);
  if (spec.positions != Positions::kLearned) {
    if (model.has("max_positions"))
      model.fail("max_positions", "must not be given: only learned positions have a table");
    spec.max_positions = 0;
  } else if (spec.max_positions == 0 || model.has("max_positions")) {
    spec.max_positions = read_dimension(model, "max_positions", limit::kPositions);
  }
}

void read_switches(ObjectReader& model, ModelSpec& spec) {
  spec.tied_embeddings = model.boolean_or("tied_embeddings", spec.tied_embeddings);
  spec.qkv_bias = model.boolean_or("qkv_bias", spec.qkv_bias);
  spec.output_bias = model.boolean_or("output_bias", spec.output_bias);
  spec.mlp_bias = model.boolean_or("mlp_bias", spec.mlp_bias);
  read_norm(model, spec);
  spec.gated = model.boolean_or("gated", spec.gated);
  read_positions(model, spec);
  spec.qk_norm = model.boolean_or("qk_norm", spec.qk_norm);
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
