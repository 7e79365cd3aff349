#pragma once

#include <memory>

#include "executor/interface/device.h"

namespace amsp {

/// The tests of kernels are compiled twice: with the kernels run on the CPU (emulated_device.cpp),
/// and with the CUDA device (gpu_device.cpp), where all tests are skipped on a machine without one.
std::unique_ptr<Device> make_test_device();
/// See emulator/cuda_runtime.h; false if the device has no such thing.
bool set_descending_threads(bool descending);

}  // namespace amsp
