#include "core/error.h"
#include "executor/cuda/cupti_records.h"

namespace amsp::cuda {

void start_kernel_records() {
  throw ConfigError(
      "device cuda: this build can't record kernels: at configuration CUPTI was not found (cupti.h "
      "and libcupti.so of the CUDA toolkit)");
}

void flush_kernel_records() {
  throw InternalError("a flush of kernel records in a build without CUPTI");
}

}  // namespace amsp::cuda
