#pragma once

namespace amsp::cuda {

/// Makes NVIDIA's profiling library (CUPTI) tell kernel_ledger() of every launch, copy and fill of
/// this process, and of its run, with times of host_now_ns(). Does nothing the second time.
/// Thread-safe. Throws ConfigError if this build has no CUPTI, DeviceError if the library refuses
/// (another profiler is attached, the driver restricts profiling), with its reason.
void start_kernel_records();

/// Delivers the runs that have ended. Blocks, but doesn't wait for the device. Thread-safe. Throws
/// DeviceError if the library fails, or failed since the last call.
void flush_kernel_records();

}  // namespace amsp::cuda
