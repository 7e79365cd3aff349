#pragma once

#include <memory>
#include <string>

#include "executor/device.h"

namespace amsp {

/// The tests of kernels are compiled twice: with the kernels run on the CPU (emulated_device.cpp),
/// and with the CUDA device (gpu_device.cpp). Null where the machine has none, `why` says so.
std::unique_ptr<Device> device_under_test(std::string& why);
/// See emulator/cuda_runtime.h; false if the device has no such thing.
bool set_descending_threads(bool descending);

}  // namespace amsp
