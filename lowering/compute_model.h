#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/units.h"
#include "kernels/kernel_table.h"
#include "lowering/compute_profile.h"
#include "schedule/task_graph.h"
#include "topology/spec/cluster_spec.h"

namespace amsp {

/// Times of compute works on one GPU: from the cluster's profile where it covers them, as they are;
/// else from the GPU's table of measured kernels (kernels/kernel_table.h), at the rate that it
/// sustains; else a roofline with the GPU's efficiencies:
///   GEMM       flop / (peak * gemm_efficiency), not below bytes / HBM rate
///   attention  flop / (peak * attention_efficiency); the backward at 0.8 of that rate
///   memory     bytes / HBM rate, HBM rate = hbm_bandwidth * hbm_efficiency
/// Weight gradients without rows of their own run at kWgradRate of the forward's rate. Unfused
/// attention is the two products at the roofline, without the causal half saved. Every kernel that
/// isn't from a profile waits queue_gap() for the one before, and is at least fixed_time() long.
class ComputeModel {
 public:
  /// `profile` and `table` may be null and must outlive the model. `pace` multiplies the rate of
  /// GEMMs and attention: what if kernels were that much better?
  ComputeModel(const GpuSpec& gpu, const ComputeProfile* profile, const KernelTable* table,
               double pace = 1)
      : gpu_(gpu), profile_(profile), table_(table), pace_(pace) {}

  /// `owner` picks from bytes_by_owner where there are any.
  ComputeTime time(const ComputeWork& work, int owner = 0) const;
  /// Fraction of the GPU's HBM rate that the work needs while it runs alone in `time`.
  double hbm_share(const ComputeWork& work, Seconds time, int owner = 0) const;
  BytesPerSec hbm_rate() const { return gpu_.hbm_efficiency * gpu_.hbm_bandwidth; }

 private:
  /// From the profile, or std::nullopt.
  std::optional<ComputeTime> profiled(const ComputeWork& work, double moved) const;
  ComputeTime gemm(const GemmWork& work, Flop flop, Seconds memory) const;
  ComputeTime attention(const AttentionWork& work, Flop flop, Seconds memory) const;
  ComputeTime unfused_attention(const AttentionWork& work, Flop flop) const;
  Seconds queue_gap() const;
  Seconds shortest() const;
  double bytes(const ComputeWork& work, int owner) const;

  GpuSpec gpu_;
  const ComputeProfile* profile_;
  const KernelTable* table_;
  double pace_;
};

/// "gemm 4096x11008x4096", "attention S 4096 b 1 heads 32 d 128 forward", "memory 67.1 MB".
std::string describe(const ComputeWork& work);

}  // namespace amsp
