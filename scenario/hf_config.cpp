#include "scenario/hf_config.h"

#include <fmt/core.h>

#include "core/nearest.h"
#include "scenario/model_dimensions.h"

namespace amsp {
namespace {

namespace limit = dimension_limit;

bool given(ObjectReader& config, const std::string& key) {
  return config.has(key) && !config.value(key).is_null();
}

bool flag(ObjectReader& config, const std::string& key) {
  return given(config, key) && config.boolean(key);
}

std::string read_family(ObjectReader& config) {
  const std::vector<std::string> families = {"llama", "mistral", "qwen2"};
  const std::string family = config.string("model_type");
  for (const std::string& known : families)
    if (family == known) return family;
  config.fail("model_type", fmt::format("'{}' is not a family that can be read (allowed: {})",
                                        family, join(families)));
}

void read_dimensions(ObjectReader& config, const std::string& family, ModelSpec& model) {
  model.hidden = read_dimension(config, "hidden_size", limit::kHidden);
  model.layers = read_dimension(config, "num_hidden_layers", limit::kLayers);
  model.heads = read_dimension(config, "num_attention_heads", limit::kHeads);
  model.ffn = read_dimension(config, "intermediate_size", limit::kFfn);
  model.vocab = read_dimension(config, "vocab_size", limit::kVocab);
  // the first llama configs predate grouped-query attention
  const bool all_heads = family == "llama" && !given(config, "num_key_value_heads");
  model.kv_heads =
      all_heads ? model.heads : read_dimension(config, "num_key_value_heads", limit::kHeads);
  check_kv_heads(config, "num_key_value_heads", model.heads, model.kv_heads);
  model.head_dim = given(config, "head_dim")
                       ? read_dimension(config, "head_dim", limit::kHeadDim)
                       : derive_head_dim(config, "num_attention_heads", model.hidden, model.heads);
}

/// Only llama has switches for its biases; qwen2 has q, k, v biases always, mistral has none.
void read_biases(ObjectReader& config, const std::string& family, ModelSpec& model) {
  if (family == "llama") {
    model.qkv_bias = model.output_bias = flag(config, "attention_bias");
    model.mlp_bias = flag(config, "mlp_bias");
  }
  if (family == "qwen2") model.qkv_bias = true;
}

std::optional<AttentionWindow> read_window(ObjectReader& config, const std::string& family) {
  if (family == "llama") return std::nullopt;
  if (family == "qwen2" && !flag(config, "use_sliding_window")) return std::nullopt;
  if (!given(config, "sliding_window")) return std::nullopt;
  constexpr std::int64_t kMostTokens = std::int64_t{1} << 40;
  return AttentionWindow{config.integer("sliding_window", 1, kMostTokens),
                         config.where("sliding_window")};
}

}  // namespace

ModelPart read_hf_config(const Json& json, const std::string& file) {
  ObjectReader config(json, file + "#");
  const std::string family = read_family(config);
  if (const std::string activation = config.string("hidden_act"); activation != "silu")
    config.fail("hidden_act", fmt::format("must be \"silu\", found \"{}\"", activation));
  for (const char* key : {"num_local_experts", "num_experts", "quantization_config"})
    if (given(config, key)) config.fail(key, "is not supported: only dense bf16 models are");
  ModelSpec model;
  read_dimensions(config, family, model);
  read_biases(config, family, model);
  model.tied_embeddings = flag(config, "tie_word_embeddings");
  model.name = given(config, "_name_or_path") ? config.string("_name_or_path") : "";
  if (model.name.empty()) model.name = family;
  model.source = file;
  return {model, read_window(config, family)};
}

}  // namespace amsp
