#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "executor/cuda/kernels/kernels.h"

namespace amsp::cuda {

/// Lists of parts in memory of the device. A list is uploaded when a stream first uses it and kept
/// under its contents, since a run uses the same few lists in every step. Thread-safe.
class PartTables {
 public:
  /// `service` is a stream of the device that nothing else waits on.
  explicit PartTables(cudaStream_t service) : service_(service) {}

  struct Table {
    const void* parts;
    const PartChunk* chunks;
    std::int64_t chunk_count;
    void* partial;  // a double per chunk
  };
  Table of(cudaStream_t stream, std::span<const GradPart> parts);
  Table of(cudaStream_t stream, std::span<const AdamWPart> parts);

 private:
  using Key = std::vector<std::uint64_t>;  // stream, kind, every field of every part
  struct Entry {
    std::shared_ptr<void> memory;
    Table table;
  };
  template <class Part>
  Table find_or_upload(const Key& key, std::span<const Part> parts);

  cudaStream_t service_;
  std::mutex mutex_;
  std::map<Key, Entry> entries_;
};

}  // namespace amsp::cuda
