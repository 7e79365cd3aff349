#include "scenario/hf_config.h"

#include <fmt/core.h>

#include <utility>

#include "core/nearest.h"
#include "scenario/hf_families.h"
#include "scenario/model_dimensions.h"

namespace amsp {
namespace {

namespace limit = dimension_limit;
using hf::flag;
using hf::given;

/// Families that are close to what ModelSpec says, and what it doesn't say of them.
constexpr std::pair<const char*, const char*> kOtherwise[] = {
    {"gpt_neox",
     "it rotates a part of each head, and runs attention and feed-forward side by side"},
    {"olmo2", "it normalises what attention and feed-forward put out, not what they take in"},
    {"opt", "its feed-forward network has a ReLU"},
};

std::string read_family(ObjectReader& config) {
  const std::vector<std::string> families = {"llama", "mistral", "qwen2", "qwen3", "gpt2", "mpt"};
  const std::string family = config.string("model_type");
  for (const std::string& known : families)
    if (family == known) return family;
  std::string reason;
  for (const auto& [known, why] : kOtherwise)
    if (family == known) reason = fmt::format(": {}", why);
  config.fail("model_type", fmt::format("'{}' is not a family that can be read{} (allowed: {})",
                                        family, reason, join(families)));
}

/// Where its config doesn't give it, whatever the hidden size.
constexpr int kQwen3HeadDim = 128;

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
  model.head_dim = given(config, "head_dim") ? read_dimension(config, "head_dim", limit::kHeadDim)
                   : family == "qwen3"
                       ? kQwen3HeadDim
                       : derive_head_dim(config, "num_attention_heads", model.hidden, model.heads);
}

/// llama and qwen3 have switches for their biases; qwen2 has q, k, v biases always, mistral none.
void read_biases(ObjectReader& config, const std::string& family, ModelSpec& model) {
  if (family == "llama" || family == "qwen3")
    model.qkv_bias = model.output_bias = flag(config, "attention_bias");
  if (family == "llama") model.mlp_bias = flag(config, "mlp_bias");
  if (family == "qwen2") model.qkv_bias = true;
}

std::optional<AttentionWindow> read_window(ObjectReader& config, const std::string& family) {
  if (family == "llama") return std::nullopt;
  if (family != "mistral" && !flag(config, "use_sliding_window")) return std::nullopt;
  if (!given(config, "sliding_window")) return std::nullopt;
  constexpr std::int64_t kMostTokens = std::int64_t{1} << 40;
  return AttentionWindow{config.integer("sliding_window", 1, kMostTokens),
                         config.where("sliding_window")};
}

/// llama and what came of it: mistral, qwen2, qwen3.
void read_llama_like(ObjectReader& config, const std::string& family, ModelSpec& model) {
  if (const std::string activation = config.string("hidden_act"); activation != "silu")
    config.fail("hidden_act", fmt::format("must be \"silu\", found \"{}\"", activation));
  read_dimensions(config, family, model);
  read_biases(config, family, model);
  model.qk_norm = family == "qwen3";
  model.tied_embeddings = flag(config, "tie_word_embeddings");
}

}  // namespace

ModelPart read_hf_config(const Json& json, const std::string& file) {
  ObjectReader config(json, file + "#");
  const std::string family = read_family(config);
  for (const char* key : {"num_local_experts", "num_experts", "quantization_config"})
    if (given(config, key)) config.fail(key, "is not supported: only dense bf16 models are");
  ModelSpec model;
  std::optional<AttentionWindow> window;
  if (family == "gpt2") {
    hf::read_gpt2(config, model);
  } else if (family == "mpt") {
    hf::read_mpt(config, model);
  } else {
    read_llama_like(config, family, model);
    window = read_window(config, family);
  }
  model.name = given(config, "_name_or_path") ? config.string("_name_or_path") : "";
  if (model.name.empty()) model.name = family;
  model.source = file;
  return {model, window};
}

}  // namespace amsp
