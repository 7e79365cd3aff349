#pragma once

#include <cstdint>
#include <variant>
#include <vector>

#include "core/units.h"
#include "training/stack.h"

namespace amsp {

/// A matrix product: (m x k) times (k x n).
struct GemmWork {
  std::int64_t m = 0, k = 0, n = 0;
  bool wgrad = false;  // the weight gradient, whose operands lie the other way
};

/// Causal attention of `batch` sequences.
struct AttentionWork {
  int sequence = 0, batch = 0, heads = 0, kv_heads = 0, head_dim = 0;
  bool backward = false;
  AttentionImplementation implementation = AttentionImplementation::kFlash2;
};

/// Which memory-bound kernel it is, for profiles that measured it.
enum class MemoryKernel : std::uint8_t {
  kNone,
  kRmsNorm,
  kLayerNorm,
  kRotary,
  kResidual,
  kSwiglu,
  kGelu,
  kEmbedding,
  kLoss,
  kGradNorm,
  kOptimizer,
};
/// "rms_norm", "layer_norm", "rotary", "residual", "swiglu", "gelu", "embedding", "loss",
/// "grad_norm", "optimizer".
const char* to_string(MemoryKernel kernel);
/// All but kNone.
std::vector<MemoryKernel> memory_kernels();

/// Bound by HBM bytes: norms, rotary, SwiGLU, residuals, embedding, loss, optimizer.
struct MemoryWork {
  MemoryKernel kernel = MemoryKernel::kNone;
  bool backward = false;
};

/// Memory-bound kernels: HBM bytes read and written, and how many kernels that is.
struct Traffic {
  double bytes = 0;
  int launches = 0;

  bool operator==(const Traffic&) const = default;
};
inline Traffic operator+(Traffic a, Traffic b) {
  return {a.bytes + b.bytes, a.launches + b.launches};
}
inline Traffic operator*(double times, Traffic traffic) {
  return {times * traffic.bytes, traffic.launches};
}

/// What one compute task does on one rank.
struct ComputeWork {
  std::variant<MemoryWork, GemmWork, AttentionWork> kernel;
  double bytes = 0;  // HBM bytes read and written
  Flop flop;         // performed, causal attention halved
  int launches = 1;  // kernels that it is
  Traffic copies;    // what it moves before or after that: copies and sums of whole tensors
  /// Where ranks differ (optimizer): HBM bytes by owner index; else empty. Then bytes is the mean.
  std::vector<double> bytes_by_owner;

  const GemmWork* gemm() const { return std::get_if<GemmWork>(&kernel); }
  const AttentionWork* attention() const { return std::get_if<AttentionWork>(&kernel); }
  const MemoryWork* memory() const { return std::get_if<MemoryWork>(&kernel); }
};

}  // namespace amsp
