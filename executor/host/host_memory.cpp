#include "executor/host/host_memory.h"

#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "core/error.h"

namespace amsp {
namespace {

constexpr std::size_t kAlignment = 256;
constexpr std::size_t kHugePage = 1 << 21;

}  // namespace

std::shared_ptr<void> allocate_host_memory(std::size_t bytes) {
  // Matrix products of a model walk through far more memory than small pages' translations cover.
  const std::size_t alignment = bytes >= kHugePage ? kHugePage : kAlignment;
  const bool possible = bytes < static_cast<std::size_t>(PTRDIFF_MAX) - kHugePage;
  const std::size_t rounded = possible ? (bytes / alignment + 1) * alignment : 0;
  void* const data = possible ? std::aligned_alloc(alignment, rounded) : nullptr;
  if (!data)
    throw DeviceError(
        fmt::format("out of memory: {} B asked for, and the machine has no more", bytes));
  if (alignment == kHugePage) madvise(data, rounded, MADV_HUGEPAGE);
  std::memset(data, 0, rounded);
  return {data, [](void* memory) { std::free(memory); }};
}

}  // namespace amsp
