#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/json/json_fwd.h"
#include "core/units.h"
#include "lowering/rate_curve.h"
#include "schedule/task_graph.h"
#include "topology/spec/cluster_spec.h"

namespace amsp {

struct ComputeTime {
  Seconds time;
  Source source = Source::kMeasured;
};

/// Times of kernels measured alone on one GPU (data/profiles/*.json, schema "amsp.profile/1").
/// Immutable. A shape of the table is kMeasured; the rules below extend it, kDerived.
class ComputeProfile {
 public:
  /// (m x k) * (k x n), forward. Without the exact shape:
  ///   time = max(work / rate(work), floor), work = 2mkn
  /// where rate is linear in log(work) over the table's rows, made monotone first (pool adjacent
  /// violators, equal weights), and constant outside; floor is the least time of the table: what a
  /// launch takes however small the work. Of the shape only the work counts.
  /// Predicting each row of a800-4xhdr from the others errs by 3.2 % in the median, 15 % at most.
  /// std::nullopt if the profile has no GEMMs.
  std::optional<ComputeTime> gemm(std::int64_t m, std::int64_t k, std::int64_t n) const;
  /// The same as a weight gradient, from rows of its own. std::nullopt if there are none.
  std::optional<ComputeTime> weight_gemm(std::int64_t m, std::int64_t k, std::int64_t n) const;

  /// A memory-bound kernel that counts so many bytes. Without a row for them the rate is linear in
  /// log(bytes) between rows and constant outside. std::nullopt if the kernel has no rows.
  std::optional<ComputeTime> memory(MemoryKernel kernel, bool backward, double bytes) const;

  /// Fused causal attention in bf16, forward or backward, `heads` on this GPU. Without the exact
  /// shape the rate, in units of work seq^2 * batch * heads * head_dim per second, is
  ///   at a measured seq: linear in log(batch * heads), constant outside;
  ///   between two of them: linear in log(rate) over log(seq);
  ///   for a head_dim that was not measured: that of the nearest measured one.
  /// Predicting each row of a800-4xhdr from the others of its seq (2048 to 8192, 8 heads and more)
  /// errs by 0.7 % in the median, 5.3 % at most; a seq of 4096 from 2048 and 8192 by 6 %, 25 % at
  /// most.
  /// std::nullopt outside the measured range of seq, and if the profile has no such rows.
  std::optional<ComputeTime> attention(std::int64_t seq, std::int64_t batch, std::int64_t heads,
                                       std::int64_t head_dim, bool forward) const;

 private:
  friend ComputeProfile read_compute_profile(const Json& json, const std::string& file);

  template <std::size_t kSize>
  using Shape = std::array<std::int64_t, kSize>;
  /// Rates over log(batch * heads), by seq.
  using AttentionCurves = std::map<std::int64_t, RateCurve>;
  struct Attention {
    std::map<Shape<4>, double> seconds;  // by seq, batch, heads, head_dim
    std::map<std::int64_t, AttentionCurves> by_head_dim;
  };

  struct Gemm {
    std::map<Shape<3>, double> seconds;  // by m, k, n
    RateCurve rate;                      // FLOP/s over log(work)
    double floor = 0;                    // seconds

    std::optional<ComputeTime> time(std::int64_t m, std::int64_t k, std::int64_t n) const;
  };
  struct Memory {
    std::map<std::int64_t, double> seconds;  // by bytes
    RateCurve rate;                          // bytes/s over log(bytes)
  };

  Gemm gemm_, weight_gemm_;
  std::map<std::pair<MemoryKernel, bool>, Memory> memory_;  // by kernel and backward
  Attention forward_, backward_;
};

/// Reads the tables of compute kernels of a profile, each of which may be missing; `file` is for
/// messages. Throws ConfigError with file and pointer for anything that isn't of the schema.
ComputeProfile read_compute_profile(const Json& json, const std::string& file);

}  // namespace amsp
