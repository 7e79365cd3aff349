#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "executor/interface/device.h"
#include "executor/interface/world.h"

namespace amsp {

struct CudaOptions {
  /// Number of the GPU among those that the process sees (CUDA_VISIBLE_DEVICES).
  int ordinal = 0;
  /// Waiting longer than this for one event or stream is a failure: a peer is lost, or a kernel
  /// hangs. Communication is aborted then.
  std::chrono::milliseconds stall_timeout = std::chrono::minutes(10);
};

/// Why the machine can't run the cuda device ("no CUDA-capable device is detected"); empty if it
/// can.
std::string why_no_cuda_device();

/// The number of this rank's GPU: ranks of one host take them in order. All ranks call it. Throws
/// ConfigError if a host has more ranks than GPUs.
int cuda_ordinal(World& world);

/// The device `cuda`: own kernels, GEMMs by cuBLASLt. Storage and gradients: bf16 with bf16 or
/// fp32, fp32 with fp32, fp64 with fp64. Heads of attention: up to 128, fastest in multiples of 8.
///
/// Beyond the contract of Device: what can't be enqueued throws from run(), not from synchronize().
/// Events need CUDA_DEVICE_MAX_CONNECTIONS queues for as many streams to be independent: it is set
/// to 32 unless the environment sets it. Copies of more than 64 MiB may block.
/// Kernels are recorded by CUPTI, for all devices of the process: runs that are of no device's task
/// are counted where take_kernels() is called first.
/// Throws DeviceError if there is no such GPU.
std::unique_ptr<Device> make_cuda_device(const CudaOptions& options);

}  // namespace amsp
