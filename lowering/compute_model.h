#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/units.h"
#include "lowering/compute_profile.h"
#include "schedule/task_graph.h"
#include "topology/spec/cluster_spec.h"

namespace amsp {

/// Times of compute works on one GPU, from a profile where the shape is covered, else a roofline
/// with the GPU's measured efficiencies:
///   GEMM       flop / (peak * gemm_efficiency), not below bytes / HBM rate
///   attention  flop / (peak * attention_efficiency); the backward at 0.8 of that rate
///   memory     bytes / HBM rate, HBM rate = hbm_bandwidth * hbm_efficiency
/// Weight gradients without rows of their own run at kWgradRate of the forward's rate. No kernel is
/// shorter than kLaunchTime.
class ComputeModel {
 public:
  /// `profile` may be null and must outlive the model. `pace` multiplies the rate of GEMMs and
  /// attention: what if kernels were that much better?
  ComputeModel(const GpuSpec& gpu, const ComputeProfile* profile, double pace = 1)
      : gpu_(gpu), profile_(profile), pace_(pace) {}

  /// `owner` picks from bytes_by_owner where there are any.
  ComputeTime time(const ComputeWork& work, int owner = 0) const;
  /// Fraction of the GPU's HBM rate that the work needs while it runs alone in `time`.
  double hbm_share(const ComputeWork& work, Seconds time, int owner = 0) const;
  BytesPerSec hbm_rate() const { return gpu_.hbm_efficiency * gpu_.hbm_bandwidth; }

 private:
  ComputeTime gemm(const GemmWork& work, Flop flop) const;
  ComputeTime attention(const AttentionWork& work, Flop flop) const;
  double bytes(const ComputeWork& work, int owner) const;

  GpuSpec gpu_;
  const ComputeProfile* profile_;
  double pace_;
};

/// "gemm 4096x11008x4096", "attention S 4096 b 1 heads 32 d 128 forward", "memory 67.1 MB".
std::string describe(const ComputeWork& work);

}  // namespace amsp
