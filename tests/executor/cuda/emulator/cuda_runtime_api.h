#pragma once

// The few names of CUDA's runtime that launchers use, for running kernels on the CPU.

enum cudaError_t { cudaSuccess = 0, cudaErrorInvalidValue = 1 };
using cudaStream_t = struct EmulatedStream*;  // kernels run at once; the stream is ignored
