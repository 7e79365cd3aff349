#include "executor/cuda/part_tables.h"

#include <cstring>

#include "executor/cuda/check.h"
#include "executor/cuda/kernels/parts.h"

namespace amsp::cuda {
namespace {

std::uint64_t number(const void* pointer) {
  return reinterpret_cast<std::uintptr_t>(pointer);
}
std::uint64_t number(std::int64_t value) {
  return static_cast<std::uint64_t>(value);
}

std::size_t padded(std::size_t bytes) {
  return (bytes + 255) / 256 * 256;
}

}  // namespace

template <class Part>
PartTables::Table PartTables::find_or_upload(const Key& key, std::span<const Part> parts) {
  const std::lock_guard lock(mutex_);
  if (const auto known = entries_.find(key); known != entries_.end()) return known->second.table;

  const std::vector<PartChunk> chunks = chunks_of(parts);
  const std::size_t part_bytes = padded(parts.size_bytes());
  const std::size_t chunk_bytes = padded(chunks.size() * sizeof(PartChunk));
  const std::size_t all = part_bytes + chunk_bytes + padded(chunks.size() * sizeof(double));
  std::vector<unsigned char> image(part_bytes + chunk_bytes);
  if (!parts.empty()) std::memcpy(image.data(), parts.data(), parts.size_bytes());
  if (!chunks.empty())
    std::memcpy(image.data() + part_bytes, chunks.data(), chunks.size() * sizeof(PartChunk));

  void* memory = nullptr;
  check(cudaMalloc(&memory, std::max<std::size_t>(all, 256)), "table of parts");
  Entry entry{{memory, [](void* it) { cudaFree(it); }}, {}};
  check(cudaMemcpyAsync(memory, image.data(), image.size(), cudaMemcpyHostToDevice, service_),
        "table of parts");
  check(cudaStreamSynchronize(service_), "table of parts");
  auto* bytes = static_cast<unsigned char*>(memory);
  entry.table = {bytes, reinterpret_cast<const PartChunk*>(bytes + part_bytes),
                 static_cast<std::int64_t>(chunks.size()), bytes + part_bytes + chunk_bytes};
  return entries_.emplace(key, std::move(entry)).first->second.table;
}

PartTables::Table PartTables::of(cudaStream_t stream, std::span<const GradPart> parts) {
  Key key = {number(stream), sizeof(GradPart)};
  for (const GradPart& part : parts) {
    key.push_back(number(part.grad));
    key.push_back(number(part.n));
  }
  return find_or_upload(key, parts);
}

PartTables::Table PartTables::of(cudaStream_t stream, std::span<const AdamWPart> parts) {
  Key key = {number(stream), sizeof(AdamWPart)};
  for (const AdamWPart& part : parts) {
    for (const void* pointer :
         {static_cast<const void*>(part.master), static_cast<const void*>(part.m),
          static_cast<const void*>(part.v), part.grad, static_cast<const void*>(part.param)})
      key.push_back(number(pointer));
    key.push_back(number(part.n));
    key.push_back(part.decay ? 1 : 0);
  }
  return find_or_upload(key, parts);
}

}  // namespace amsp::cuda
