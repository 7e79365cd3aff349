#include "topology/read/gpu_reader.h"

namespace amsp {
namespace {

template <class Value>
Value above_zero(const ObjectReader& reader, const std::string& key, Value value) {
  if (value == Value{}) reader.fail(key, "must be above 0");
  return value;
}

double efficiency(ObjectReader& reader, const std::string& key) {
  return above_zero(reader, key, reader.number(key, 0, 1));
}

FlopPerSec peak(ObjectReader& reader, const std::string& key) {
  const FlopPerSec rate = above_zero(reader, key, reader.flop_rate(key));
  if (rate.value >= 1e18)
    reader.fail(key, describe(reader.value(key)) + " is too much for one GPU (1 EFLOP/s or more)");
  return rate;
}

}  // namespace

GpuSpec read_gpu(ObjectReader reader) {
  GpuSpec gpu;
  gpu.name = reader.string("name");
  gpu.peak_bf16 = peak(reader, "peak_bf16");
  if (reader.has("peak_tf32")) gpu.peak_tf32 = peak(reader, "peak_tf32");
  if (reader.has("peak_fp32")) gpu.peak_fp32 = peak(reader, "peak_fp32");
  if (reader.has("sustained")) gpu.sustained = peak(reader, "sustained");
  gpu.memory = above_zero(reader, "memory", reader.bytes("memory"));
  gpu.hbm_bandwidth = above_zero(reader, "hbm_bandwidth", reader.bandwidth("hbm_bandwidth"));
  gpu.hbm_efficiency = efficiency(reader, "hbm_efficiency");
  gpu.gemm_efficiency = efficiency(reader, "gemm_efficiency");
  gpu.attention_efficiency = efficiency(reader, "attention_efficiency");
  gpu.sms = static_cast<int>(reader.integer("sms", 1, 4096));
  if (reader.has("architecture")) {
    const std::string name =
        reader.choice("architecture", {"volta", "ampere", "hopper", "blackwell"});
    for (const GpuArchitecture architecture :
         {GpuArchitecture::kVolta, GpuArchitecture::kAmpere, GpuArchitecture::kHopper,
          GpuArchitecture::kBlackwell})
      if (name == to_string(architecture)) gpu.architecture = architecture;
  }
  reader.finish();
  return gpu;
}

}  // namespace amsp
