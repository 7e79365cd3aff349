#include "training/model.h"

#include <fmt/format.h>

#include <utility>

namespace amsp {

const char* to_string(Module module) {
  switch (module) {
    case Module::kNone:
      return "-";
    case Module::kEmbedding:
      return "embedding";
    case Module::kAttentionNorm:
      return "attn_norm";
    case Module::kQ:
      return "q";
    case Module::kK:
      return "k";
    case Module::kV:
      return "v";
    case Module::kQkv:
      return "qkv";
    case Module::kQkNorm:
      return "qk_norm";
    case Module::kRotary:
      return "rotary";
    case Module::kAttention:
      return "attention";
    case Module::kO:
      return "o";
    case Module::kAttentionResidual:
      return "attn_residual";
    case Module::kFfnNorm:
      return "ffn_norm";
    case Module::kGate:
      return "gate";
    case Module::kUp:
      return "up";
    case Module::kGateUp:
      return "gate_up";
    case Module::kSwiglu:
      return "swiglu";
    case Module::kGelu:
      return "gelu";
    case Module::kDown:
      return "down";
    case Module::kFfnResidual:
      return "ffn_residual";
    case Module::kFinalNorm:
      return "final_norm";
    case Module::kHead:
      return "head";
    case Module::kLoss:
      return "loss";
  }
  return "?";
}

namespace {

/// Collects the tensors of one block after the other.
class TensorList {
 public:
  void add(const std::string& name, std::int64_t elements, int block, Module module) {
    tensors_.push_back({name, elements, block, module});
  }
  void add_linear(const std::string& name, std::int64_t in, std::int64_t out, bool bias, int block,
                  Module module) {
    add(name + ".weight", in * out, block, module);
    if (bias) add(name + ".bias", out, block, module);
  }
  void add_norm(const std::string& name, const ModelSpec& model, int block, Module module) {
    add(name + ".weight", model.hidden, block, module);
    if (model.norm == NormKind::kLayer && model.norm_bias)
      add(name + ".bias", model.hidden, block, module);
  }
  std::vector<Tensor> take() { return std::move(tensors_); }

 private:
  std::vector<Tensor> tensors_;
};

void add_layer(TensorList& list, const ModelSpec& model, int layer) {
  const std::int64_t h = model.hidden;
  const std::int64_t q = std::int64_t{model.heads} * model.head_dim;
  const std::int64_t kv = std::int64_t{model.kv_heads} * model.head_dim;
  const std::int64_t f = model.ffn;
  const int block = layer + 1;
  const std::string name = fmt::format("layers.{}.", layer);
  list.add_norm(name + "input_layernorm", model, block, Module::kAttentionNorm);
  if (model.fused_qkv) {
    list.add_linear(name + "self_attn.qkv_proj", h, q + 2 * kv, model.qkv_bias, block,
                    Module::kQkv);
  } else {
    list.add_linear(name + "self_attn.q_proj", h, q, model.qkv_bias, block, Module::kQ);
    list.add_linear(name + "self_attn.k_proj", h, kv, model.qkv_bias, block, Module::kK);
    list.add_linear(name + "self_attn.v_proj", h, kv, model.qkv_bias, block, Module::kV);
  }
  if (model.qk_norm) {
    list.add(name + "self_attn.q_norm.weight", model.head_dim, block, Module::kQkNorm);
    list.add(name + "self_attn.k_norm.weight", model.head_dim, block, Module::kQkNorm);
  }
  list.add_linear(name + "self_attn.o_proj", q, h, model.output_bias, block, Module::kO);
  list.add_norm(name + "post_attention_layernorm", model, block, Module::kFfnNorm);
  if (model.gated && model.fused_gate_up) {
    list.add_linear(name + "mlp.gate_up_proj", h, 2 * f, model.mlp_bias, block, Module::kGateUp);
  } else {
    if (model.gated)
      list.add_linear(name + "mlp.gate_proj", h, f, model.mlp_bias, block, Module::kGate);
    list.add_linear(name + "mlp.up_proj", h, f, model.mlp_bias, block, Module::kUp);
  }
  list.add_linear(name + "mlp.down_proj", f, h, model.mlp_bias, block, Module::kDown);
}

}  // namespace

std::vector<Tensor> model_tensors(const ModelSpec& model) {
  TensorList list;
  const std::int64_t h = model.hidden;
  list.add("embed_tokens.weight", h * model.vocab, 0, Module::kEmbedding);
  if (model.positions == Positions::kLearned)
    list.add("embed_positions.weight", h * model.max_positions, 0, Module::kEmbedding);
  for (int layer = 0; layer < model.layers; ++layer) add_layer(list, model, layer);
  const int head = model.layers + 1;
  list.add_norm("norm", model, head, Module::kFinalNorm);
  if (!model.tied_embeddings) list.add("lm_head.weight", h * model.vocab, head, Module::kHead);
  return list.take();
}

std::int64_t parameter_count(const ModelSpec& model) {
  std::int64_t sum = 0;
  for (const Tensor& tensor : model_tensors(model)) sum += tensor.elements;
  return sum;
}

std::int64_t linear_parameter_count(const ModelSpec& model) {
  const std::int64_t h = model.hidden;
  const std::int64_t q = std::int64_t{model.heads} * model.head_dim;
  const std::int64_t kv = std::int64_t{model.kv_heads} * model.head_dim;
  const std::int64_t layer = 2 * h * q + 2 * h * kv + (model.gated ? 3 : 2) * h * model.ffn;
  return model.layers * layer + h * model.vocab;
}

Flop training_flop_per_token(const ModelSpec& model, int sequence_length) {
  const double linear = 2.0 * static_cast<double>(linear_parameter_count(model));
  const double attention =
      4.0 * sequence_length * model.heads * model.head_dim * static_cast<double>(model.layers);
  return Flop{3.0 * (linear + attention)};
}

}  // namespace amsp
