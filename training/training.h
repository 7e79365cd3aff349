#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/units.h"
#include "training/stack.h"

namespace amsp {

inline constexpr std::int64_t kMostMicroBatches = 1 << 20;      // per step and rank
inline constexpr std::int64_t kMostMicroBatchTokens = 1 << 27;  // per rank

enum class Recompute { kNone, kFull };

/// Bytes an optimizer keeps and moves per parameter (data/optimizers.json).
struct OptimizerSpec {
  std::string name;          // "adam"
  double state_bytes = 0;    // per parameter: fp32 master, moments
  double traffic_bytes = 0;  // HBM bytes read and written per parameter and step, with bf16
                             // gradients and parameters
  std::string source;
};

struct TrainingSpec {
  int sequence_length = 0;  // S, tokens
  int micro_batch = 1;      // b, sequences
  int micro_batches = 1;    // M per step and rank
  Recompute recompute = Recompute::kNone;
  double recompute_share = 1;  // with kFull: of the layers, evenly spread, in (0, 1]
  int parameter_bytes = 2;     // bf16; 4: fp32, 8: fp64. Activations are of the same type
  bool tf32 = false;           // fp32 products on tensor cores
  int gradient_bytes = 2;      // as parameters; or 4 if bf16 ones are accumulated in fp32
  OptimizerSpec optimizer;
  bool clip_gradients = true;  // a global-norm all-reduce before the optimizer
  StackSpec stack;

  /// Of statistics and sums: fp64 beside fp64, else fp32.
  int wide_bytes() const { return parameter_bytes == 8 ? 8 : 4; }
  int tokens() const { return sequence_length * micro_batch; }  // per micro-batch and rank
  /// Of the layers 1 .. `layer`, how many run their forward again before their backward.
  int recomputed_through(int layer) const {
    constexpr double kRounding = 1e-9;  // a third of 3 is 1
    if (recompute == Recompute::kNone) return 0;
    return static_cast<int>(layer * recompute_share + kRounding);
  }
  bool recomputes(int layer) const {
    return recomputed_through(layer) > recomputed_through(layer - 1);
  }
};

/// "full recompute", "recompute of 40 % of the layers"; "" for none.
std::string recompute_text(const TrainingSpec& training);

}  // namespace amsp
