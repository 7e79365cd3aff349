#pragma once

#include <cublasLt.h>
#include <cuda_runtime_api.h>

#include <source_location>
#include <string>
#include <string_view>

namespace amsp::cuda {

/// "what: out of memory (cudaErrorMemoryAllocation), at file.cpp:12".
std::string message_of(cudaError_t status, std::string_view what,
                       const std::source_location& where = std::source_location::current());

/// Throws DeviceError with message_of() unless `status` says success. `what` names the call, or the
/// task and the call.
void check(cudaError_t status, std::string_view what,
           const std::source_location& where = std::source_location::current());
void check(cublasStatus_t status, std::string_view what,
           const std::source_location& where = std::source_location::current());

}  // namespace amsp::cuda
