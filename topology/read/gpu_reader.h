#pragma once

#include "core/json/object_reader.h"
#include "topology/spec/cluster_spec.h"

namespace amsp {

/// Reads a whole description of a GPU; every figure is required:
///   {"name": "A800-SXM4-80GB", "peak_bf16": "312TFLOPS", "memory": "80GiB",
///    "hbm_bandwidth": "2039GBps", "hbm_efficiency": 0.79, "gemm_efficiency": 0.735,
///    "attention_efficiency": 0.57, "sms": 108}
/// Throws ConfigError. GpuSpec::source stays empty: the caller knows it.
GpuSpec read_gpu(ObjectReader reader);

}  // namespace amsp
