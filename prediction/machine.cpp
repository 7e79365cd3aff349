#include "prediction/machine.h"

#include <fmt/format.h>

#include "core/error.h"
#include "core/json/json.h"
#include "topology/models/collective_models.h"
#include "topology/profile/profile_source.h"
#include "topology/read/gpu_reader.h"
#include "topology/read/presets.h"

namespace amsp {

namespace {

std::unique_ptr<ComputeProfile> load_compute_profile(const std::string& name) {
  if (name.empty()) return nullptr;
  const auto [json, file] = load_profile_json(name);
  return std::make_unique<ComputeProfile>(read_compute_profile(json, file));
}

/// Measured kernels hold for the GPU as it is. With another peak or other efficiencies it is a GPU
/// of the user's own, computed by these.
bool is_preset(const GpuSpec& gpu) {
  const auto preset = gpu_presets().find(gpu.name);
  if (preset == gpu_presets().end()) return false;
  const GpuSpec usual =
      read_gpu(ObjectReader(preset->second.description, "gpus.json#/gpus/" + gpu.name));
  return gpu.peak_bf16 == usual.peak_bf16 && gpu.gemm_efficiency == usual.gemm_efficiency &&
         gpu.attention_efficiency == usual.attention_efficiency;
}

/// Kernel times of a profile hold for the GPU as it is: what they stand for can't be overridden
/// beside them without effect.
void check_gpu(const ClusterSpec& cluster) {
  const auto preset = gpu_presets().find(cluster.gpu.name);
  if (cluster.profile.empty() || preset == gpu_presets().end()) return;
  const GpuSpec measured =
      read_gpu(ObjectReader(preset->second.description, "gpus.json#/gpus/" + cluster.gpu.name));
  const auto refuse = [&](const char* key) {
    throw ConfigError(fmt::format(
        "gpu/{}: has no effect on kernel times that profile '{}' measured; set \"profile\": "
        "\"none\" to model them instead",
        key, cluster.profile));
  };
  if (cluster.gpu.peak_bf16 != measured.peak_bf16) refuse("peak_bf16");
  if (cluster.gpu.gemm_efficiency != measured.gemm_efficiency) refuse("gemm_efficiency");
  if (cluster.gpu.attention_efficiency != measured.attention_efficiency)
    refuse("attention_efficiency");
  if (cluster.gpu.sustained != measured.sustained) refuse("sustained");
}

}  // namespace

Machine::Machine(const Scenario& scenario, const MachineOptions& options) {
  const ClusterSpec& spec = scenario.cluster;
  at_cluster(scenario, [&] {
    check_gpu(spec);
    nominal_ = std::make_unique<ClusterGraph>(spec);
    if (options.scale != HardwareScale{})
      scaled_ = std::make_unique<ClusterGraph>(scaled(spec, options.scale));
  });
  apply(scenario.conditions, *nominal_);
  if (scaled_) apply(scenario.conditions, *scaled_);
  at_cluster(scenario, [&] {
    placement_ = std::make_unique<Placement>(place(scenario));
    collectives_ = make_collectives(*nominal_, *placement_);
    profile_ = load_compute_profile(spec.profile);
    if (scaled_) {
      // A model is asked about the scaled cluster itself: NCCL may choose otherwise there.
      // Measurements have to be stretched.
      const ClusterGraph* basis = nominal_.get();
      if (spec.profile.empty()) {
        collectives_ = make_collectives(*scaled_, *placement_);
        basis = scaled_.get();
      }
      collectives_ = std::make_unique<ScaledCollectives>(std::move(collectives_), *basis, *scaled_,
                                                         *placement_, options.scale.latency);
    }
    if (options.even_broadcasts)
      collectives_ = std::make_unique<EvenBroadcasts>(std::move(collectives_));
  });
  const KernelTable* table = is_preset(spec.gpu) ? kernel_table(spec.gpu.name) : nullptr;
  const MatrixPeak peak = matrix_peak(scenario);
  GpuSpec gpu = spec.gpu;
  if (peak.type != "bf16") {
    // What was measured of a GPU is bf16. A description without such a peak is one of a host, whose
    // profile has the type that was run.
    table = nullptr;
    gpu.peak_bf16 = peak.rate;
    gpu.sustained = {};
    if (peak.given) profile_ = nullptr;
  }
  compute_ = std::make_unique<ComputeModel>(gpu, profile_.get(), table, options.scale.compute);
  if (peak.type != "bf16" && profile_ == nullptr)
    kernel_source_ = fmt::format("kernels in {} at {} (unmeasured: error unknown)", peak.type,
                                 peak.given ? "its peak and the description's efficiencies"
                                            : "bf16's rates, for want of a peak of its own");
  else if (!spec.profile.empty())
    kernel_source_ = "profile " + spec.profile;
  else if (table != nullptr)
    kernel_source_ = "kernels " + kernel_table_source(spec.gpu.name);
  else
    kernel_source_ = "kernels at the rates of the description (unmeasured: error unknown)";
  slowness_ = amsp::slowness(scenario.conditions, cluster(), *placement_);
}

}  // namespace amsp
