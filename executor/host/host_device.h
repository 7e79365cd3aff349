#pragma once

#include <memory>

#include "executor/interface/device.h"

namespace amsp {

/// This machine's processor: a stream is a thread (HostStream), its memory the host's. Computes in
/// fp64, fp32 and bf16 (stored; sums are fp32), with gradients of the same type or, for bf16, of
/// fp32. Matrix products are OpenBLAS's, one thread each, with the kernels that OPENBLAS_CORETYPE
/// names or else those for the processor. Throws DeviceError if OpenBLAS can't be loaded. The first
/// call in a process changes the environment for a moment: make it before threads that read it.
std::unique_ptr<Device> make_host_device();

}  // namespace amsp
