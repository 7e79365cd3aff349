#include "scenario/hf_families.h"

#include <fmt/core.h>

#include <vector>

#include "scenario/model_dimensions.h"

namespace amsp::hf {

namespace {

namespace limit = dimension_limit;

void set_layer_norm_and_gelu(ModelSpec& model, bool biases) {
  model.norm = NormKind::kLayer;
  model.norm_bias = model.qkv_bias = model.output_bias = model.mlp_bias = biases;
  model.gated = false;
  model.fused_qkv = true;
}

void read_width(ObjectReader& config, const char* hidden, const char* heads, ModelSpec& model) {
  model.hidden = read_dimension(config, hidden, limit::kHidden);
  model.heads = model.kv_heads = read_dimension(config, heads, limit::kHeads);
  model.head_dim = derive_head_dim(config, heads, model.hidden, model.heads);
}

void must_be_one_of(ObjectReader& config, const std::string& key,
                    const std::vector<std::string>& allowed) {
  if (given(config, key)) config.choice(key, allowed);
}

/// "multihead_attention" where it isn't given.
int read_mpt_kv_heads(ObjectReader& attention, int heads) {
  const std::string type =
      given(attention, "attn_type")
          ? attention.choice("attn_type", {"multihead_attention", "multiquery_attention",
                                           "grouped_query_attention"})
          : "multihead_attention";
  if (type == "multihead_attention") return heads;
  if (type == "multiquery_attention") return 1;
  const int kv_heads = read_dimension(attention, "kv_n_heads", limit::kHeads);
  check_kv_heads(attention, "kv_n_heads", heads, kv_heads);
  return kv_heads;
}

void read_mpt_attention(ObjectReader attention, ModelSpec& model) {
  for (const char* key : {"qk_ln", "qk_gn", "prefix_lm"})
    if (flag(attention, key)) attention.fail(key, "is not supported: must be false");
  if (given(attention, "clip_qkv")) attention.fail("clip_qkv", "is not supported: must be null");
  if (given(attention, "sliding_window_size"))
    attention.integer("sliding_window_size", -1, -1);  // none
  model.kv_heads = read_mpt_kv_heads(attention, model.heads);
  if (attention.boolean("alibi"))
    model.positions = Positions::kAlibi;
  else if (flag(attention, "rope"))
    model.positions = Positions::kRotary;
}

void check_mpt_ffn(ObjectReader ffn) {
  must_be_one_of(ffn, "ffn_type", {"mptmlp"});
  if (!given(ffn, "ffn_act_fn")) return;
  ObjectReader activation = ffn.object("ffn_act_fn");
  must_be_one_of(activation, "name", {"gelu"});
}

}  // namespace

bool given(ObjectReader& config, const std::string& key) {
  return config.has(key) && !config.value(key).is_null();
}

bool flag(ObjectReader& config, const std::string& key, bool absent) {
  return given(config, key) ? config.boolean(key) : absent;
}

void read_gpt2(ObjectReader& config, ModelSpec& model) {
  must_be_one_of(config, "activation_function",
                 {"gelu", "gelu_new", "gelu_fast", "gelu_pytorch_tanh"});
  if (flag(config, "add_cross_attention"))
    config.fail("add_cross_attention", "is not supported: must be false");
  set_layer_norm_and_gelu(model, true);
  read_width(config, "n_embd", "n_head", model);
  model.layers = read_dimension(config, "n_layer", limit::kLayers);
  model.ffn =
      given(config, "n_inner") ? read_dimension(config, "n_inner", limit::kFfn) : 4 * model.hidden;
  model.vocab = read_dimension(config, "vocab_size", limit::kVocab);
  model.positions = Positions::kLearned;
  model.max_positions = read_dimension(config, "n_positions", limit::kPositions);
  model.tied_embeddings = flag(config, "tie_word_embeddings", true);
}

void read_mpt(ObjectReader& config, ModelSpec& model) {
  set_layer_norm_and_gelu(model, !config.boolean("no_bias"));
  must_be_one_of(config, "norm_type", {"layernorm", "low_precision_layernorm"});
  if (given(config, "ffn_config")) check_mpt_ffn(config.object("ffn_config"));
  read_width(config, "d_model", "n_heads", model);
  model.layers = read_dimension(config, "n_layers", limit::kLayers);
  const double ratio =
      given(config, "expansion_ratio") ? config.number("expansion_ratio", 0, limit::kFfn) : 4;
  const double ffn = ratio * model.hidden;
  if (ffn < 1 || ffn > limit::kFfn)
    config.fail("expansion_ratio",
                fmt::format("makes {:g} of {}; must make 1 to {}", ffn, model.hidden, limit::kFfn));
  model.ffn = static_cast<int>(ffn);
  model.vocab = read_dimension(config, "vocab_size", limit::kVocab);
  model.positions = flag(config, "learned_pos_emb", true) ? Positions::kLearned : Positions::kNone;
  read_mpt_attention(config.object("attn_config"), model);
  if (model.positions == Positions::kLearned)
    model.max_positions = read_dimension(config, "max_seq_len", limit::kPositions);
  model.tied_embeddings = flag(config, "tie_word_embeddings", true);
}

}  // namespace amsp::hf
