#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "executor/interface/device.h"

/// Launchers of our own kernels: each enqueues one piece of work of executor/interface/device.h on
/// `stream` and returns what the launch gave. cudaErrorInvalidValue: no kernel for these types or
/// sizes (Device::require and the launch of attention say which exist). No kernel uses atomics, so
/// every result is the same bits in every run.
namespace amsp::cuda {

cudaError_t launch(cudaStream_t stream, const AddBias& work);
cudaError_t launch(cudaStream_t stream, const ColumnSum& work);
cudaError_t launch(cudaStream_t stream, const RmsNorm& work);
cudaError_t launch(cudaStream_t stream, const RmsNormBackward& work);
cudaError_t launch(cudaStream_t stream, const Rotary& work);
cudaError_t launch(cudaStream_t stream, const Attention& work);
cudaError_t launch(cudaStream_t stream, const AttentionBackward& work);
cudaError_t launch(cudaStream_t stream, const SwiGlu& work);
cudaError_t launch(cudaStream_t stream, const SwiGluBackward& work);
cudaError_t launch(cudaStream_t stream, const Embedding& work);
cudaError_t launch(cudaStream_t stream, const EmbeddingBackward& work);
cudaError_t launch(cudaStream_t stream, const CrossEntropy& work);
cudaError_t launch(cudaStream_t stream, const CrossEntropyBackward& work);
cudaError_t launch(cudaStream_t stream, const Add& work);
cudaError_t launch(cudaStream_t stream, const Convert& work);

/// Largest head of the attention kernels.
constexpr int kMaxHeadDim = 128;
/// attention_mma.cu: storage bf16, on tensor cores. attention.cu chooses by type.
cudaError_t launch_mma(cudaStream_t stream, const Attention& work);
cudaError_t launch_mma(cudaStream_t stream, const AttentionBackward& work);

/// A piece of at most kPartChunk elements of parts[part]: the work of one block.
struct PartChunk {
  std::int64_t first;
  std::int32_t part;
  std::int32_t count;
};
constexpr std::int64_t kPartChunk = 1 << 15;

/// `parts` and `chunks` are tables in memory of the device; `partial` has room for a wide number
/// per chunk.
cudaError_t launch(cudaStream_t stream, const SumOfSquares& work, const GradPart* parts,
                   const PartChunk* chunks, std::int64_t chunk_count, void* partial);
cudaError_t launch(cudaStream_t stream, const AdamW& work, const AdamWPart* parts,
                   const PartChunk* chunks, std::int64_t chunk_count);

/// out[n] = the sum of sources[0][n], sources[1][n], ... in this order, accumulated wide and
/// rounded once; out may be one of the sources. Reductions between ranks on one GPU.
constexpr int kMaxSources = 64;
struct SumOfSources {
  DType type;
  std::int64_t n;
  int count;
  const void* sources[kMaxSources];
  void* out;
};
cudaError_t launch(cudaStream_t stream, const SumOfSources& work);

}  // namespace amsp::cuda
