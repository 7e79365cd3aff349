#pragma once

#include <cstddef>
#include <memory>

#include "executor/device.h"

namespace amsp {

struct HostDeviceOptions {
  /// In bytes, of all that allocate() gave out and that is still owned; 0: none but the machine's.
  std::size_t memory_limit = 0;
};

/// This machine's processor: a stream is a thread (HostStream), its memory the host's. Computes in
/// fp64, fp32 and bf16 (stored; sums are fp32), with gradients of the same type or, for bf16, of
/// fp32. Matrix products are OpenBLAS's, one thread each, with the kernels that OPENBLAS_CORETYPE
/// names or else those for the processor. Throws DeviceError if OpenBLAS can't be loaded. The first
/// call in a process changes the environment for a moment: make it before threads that read it.
std::unique_ptr<Device> make_host_device(const HostDeviceOptions& options = {});

}  // namespace amsp
