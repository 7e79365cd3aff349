#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/json/json_fwd.h"
#include "core/source.h"
#include "core/units.h"
#include "kernels/rate_grid.h"

namespace amsp {

/// Types of the operands of a GEMM. kFp8 has one scale a tensor or row, and quantises A on the way.
enum class GemmType { kBf16, kFp8 };
/// Fused attention. kCudnn on Blackwell is NVIDIA's trtllm-gen, kTriton FlashAttention in Triton.
/// Unfused attention is no kernel of its own: GEMMs and memory-bound kernels.
enum class AttentionKernel { kFlash2, kFlash3, kFlash4, kCudnn, kTriton };
const char* to_string(GemmType type);
const char* to_string(AttentionKernel kernel);

/// kBurst: as measured, a few ms on a rested chip. kSustained: no faster than the rate that the
/// chip holds at its power limit, which is what a training step sees.
enum class Clock { kSustained, kBurst };

/// Causal self-attention of `batch` sequences; `heads` query heads on this GPU. How many share a kv
/// head doesn't show in training kernels (docs/kernels.md).
struct AttentionShape {
  std::int64_t seq = 0, batch = 0, heads = 0, head_dim = 0;
};

struct KernelTime {
  Seconds time{};
  Source source = Source::kMeasured;
  /// Nine of ten measured shapes that were left out of the table lie within this share of what it
  /// says (0.1: 10 %); at a shape of the table, nine of ten measurements do. Absent where nothing
  /// of the kind was measured.
  std::optional<double> spread{};
  bool outside = false;  // of the range of shapes that were measured
};

/// Times of kernels measured alone on one GPU (data/kernels/*.json, schema "amsp.kernels/1").
/// Immutable. docs/kernels.md has the errors. Times are those of the GPU: what a host needs to
/// launch a kernel isn't in them.
class KernelTable {
 public:
  const std::string& name() const { return name_; }

  /// C (m x n) = A (m x k) B (k x n). In bf16 a product with m below the table and n above m is
  /// taken for its transpose. Then
  ///   inside the table  log(rate) is linear in log(m), log(k) and log(n)
  ///   above it          the rate is that of the border
  ///   below it          time less a fixed part (at most half the border's) grows with a size as
  ///                     from the border to its double, at most in proportion: so few columns that
  ///                     a chip runs half empty cost what many would.
  /// Far below, memory is what limits: take the longer of this and memory().
  /// kSustained: at least 2mkn / sustained_rate(type). Weight gradients have m and n of the weights
  /// and k tokens; the table holds one layout only (A and B^T row-major, as linear layers have).
  /// std::nullopt if the table has no such type.
  std::optional<KernelTime> gemm(GemmType type, std::int64_t m, std::int64_t k, std::int64_t n,
                                 Clock clock = Clock::kSustained) const;
  /// What GEMMs hold at the power limit; std::nullopt if unknown (fp8): then kSustained is kBurst.
  std::optional<FlopPerSec> sustained_rate(GemmType type) const;

  /// Forward or backward (without the forward pass that recomputation adds). Work is
  /// 2 seq^2 batch heads head_dim flop forward, 2.5 times that backward; log(rate) is linear in the
  /// logs of seq, batch x heads and head_dim. Outside: as for GEMMs, time growing with seq at most
  /// by its square. Backward passes, and kernels that weren't measured on this GPU, are a measured
  /// forward rate times a published ratio, which is linear in log(seq) and constant outside.
  /// std::nullopt if nothing is known of the kernel on this GPU.
  std::optional<KernelTime> attention(AttentionKernel kernel, bool backward,
                                      const AttentionShape& shape) const;
  /// The kernels that attention() knows in this direction, in the order of the enumeration.
  std::vector<AttentionKernel> attention_kernels(bool backward) const;

  /// A kernel that moves `bytes`, alone: fixed_time() + bytes / copy_rate. The copy rate of large
  /// kernels is the GPU's (data/gpus.json: hbm_bandwidth x hbm_efficiency).
  KernelTime memory(double bytes, BytesPerSec copy_rate) const;
  /// What any kernel takes besides its work, back to back in a CUDA graph; derived from GEMMs.
  Seconds fixed_time() const { return fixed_; }
  /// Between two kernels that wait in a stream's queue, launched one by one.
  Seconds queue_gap() const { return gap_; }

 private:
  friend KernelTable read_kernel_table(const Json& json, const std::string& file);
  friend const KernelTable* kernel_table(std::string_view gpu);

  struct Spread {
    double grid = 0, between = 0, outside = 0;
  };
  struct Gemm {
    RateGrid rates;  // by m, n, k
    double fixed = 0;
    Spread spread;
    std::optional<FlopPerSec> sustained;
  };
  /// Ratios over log(seq), ascending.
  struct Ratios {
    Source source = Source::kDerived;
    std::vector<std::pair<double, double>> points;

    double at(double seq) const;
  };
  struct Attention {
    RateGrid rates;  // by head_dim, seq, batch x heads
    Spread spread;
  };
  struct Scaled {
    AttentionKernel of = AttentionKernel::kFlash2;
    Ratios ratios;
  };

  /// Forward, of a kernel that was measured.
  KernelTime attention_time(const Attention& table, const AttentionShape& shape) const;

  std::string name_;
  bool alike_ = false;  // measured on another GPU with the same chip
  std::map<GemmType, Gemm> gemms_;
  std::map<AttentionKernel, Attention> attention_;
  std::map<AttentionKernel, Scaled> scaled_;
  std::map<AttentionKernel, Ratios> backward_;
  Seconds fixed_, gap_;
};

/// Throws ConfigError with file and pointer for anything that isn't of the schema; `file` is for
/// messages.
KernelTable read_kernel_table(const Json& json, const std::string& file);

/// The table for a GPU of data/gpus.json by name, read at the first call; nullptr if there is none.
/// A GPU whose chip was measured under another name has its times, kDerived. Safe from any thread.
const KernelTable* kernel_table(std::string_view gpu);
/// Whose measurements the table of a GPU holds ("derived: measured on A100 SXM; ..."), or that
/// there are none.
std::string kernel_table_source(std::string_view gpu);

/// By the name of the table ("h100", "b300"), for GPUs that no preset has. Names are in
/// kernel_table_names(). Throws InternalError if there is no such table.
KernelTable kernel_table_named(const std::string& table);
std::vector<std::string> kernel_table_names();

}  // namespace amsp
