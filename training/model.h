#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/units.h"

namespace amsp {

enum class NormKind : std::uint8_t {
  kRms,
  kLayer,
};

/// How a token knows its position.
enum class Positions : std::uint8_t {
  kRotary,   // q and k are rotated
  kLearned,  // a table of max_positions x h is added to the embedding
  kAlibi,    // a bias of the scores, made inside the attention kernel
  kNone,
};

/// A decoder-only transformer: a norm before attention and before the feed-forward network, each
/// with a residual connection around it. As it stands here, of the LLaMA family: RMSNorm, rotary
/// positions, grouped-query attention, SwiGLU.
struct ModelSpec {
  std::string name;
  int hidden = 0;    // h
  int layers = 0;    // L
  int heads = 0;     // a
  int kv_heads = 0;  // a for full multi-head attention
  int head_dim = 0;  // d, usually h/a
  int ffn = 0;       // f
  int vocab = 0;     // V
  bool tied_embeddings = false;
  bool qkv_bias = false;     // biases of q, k, v (qwen2)
  bool output_bias = false;  // bias of the attention's output projection
  bool mlp_bias = false;
  NormKind norm = NormKind::kRms;
  bool norm_bias = true;  // of a LayerNorm; an RMSNorm has none
  bool gated = true;      // down(silu(gate) up), SwiGLU; otherwise down(gelu(up))
  Positions positions = Positions::kRotary;
  int max_positions = 0;       // rows of the table of learned positions
  bool qk_norm = false;        // RMSNorm of q and k over each head (qwen3)
  bool fused_qkv = false;      // one GEMM for q, k, v
  bool fused_gate_up = false;  // one GEMM for gate and up
  std::string source;          // where the dimensions come from
};

/// What a module of the schedule is. Modules with parameters are gathered and reduced one by one.
enum class Module : std::uint8_t {
  kNone,
  kEmbedding,
  kAttentionNorm,
  kQ,
  kK,
  kV,
  kQkv,
  kQkNorm,
  kRotary,
  kAttention,
  kO,
  kAttentionResidual,
  kFfnNorm,
  kGate,
  kUp,
  kGateUp,
  kSwiglu,
  kGelu,
  kDown,
  kFfnResidual,
  kFinalNorm,
  kHead,
  kLoss,
};
/// The name in task keys: "embedding", "attn_norm", "q", ...
const char* to_string(Module module);

using TensorId = int;

/// One parameter tensor. Ids follow the order in which the forward needs them.
struct Tensor {
  std::string name;  // Hugging Face style: "layers.3.mlp.gate.weight"
  std::int64_t elements = 0;
  int block = 0;  // 0 .. block_count() - 1
  Module module = Module::kNone;
};

/// All tensors: embedding (first the tokens' table, then the positions'), layers, final norm, head
/// (absent if tied).
std::vector<Tensor> model_tensors(const ModelSpec& model);
/// Blocks are the embedding (0), the layers (1..L) and the head with final norm and loss (L+1).
inline int block_count(const ModelSpec& model) {
  return model.layers + 2;
}

/// Phi: parameters of the model (a tied head counts once).
std::int64_t parameter_count(const ModelSpec& model);
/// Phi_linear: weights of all matrix products, the head included, the embedding's tables not.
std::int64_t linear_parameter_count(const ModelSpec& model);

/// Training FLOPs per token without recompute credit, attention not halved (AMSP's F):
///   3 * (2 * Phi_linear + 4 * S * a * d * L)
/// which for full-head attention and f = 8/3 h (without a gate 4 h) is 3L(24h^2 + 4Sh) + 6hV.
Flop training_flop_per_token(const ModelSpec& model, int sequence_length);

/// The paper's models first: "llama-7b", "llama-13b", "llama-30b"; then others (data/models.json).
std::vector<std::string> model_preset_names();
/// Requires a name of model_preset_names().
ModelSpec model_preset(const std::string& name);

}  // namespace amsp
