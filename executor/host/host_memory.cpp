#include "executor/host/host_memory.h"

#include <sys/mman.h>

#include <cstdlib>
#include <cstring>

#include "core/error.h"

namespace amsp {
namespace {

constexpr std::size_t kAlignment = 256;
constexpr std::size_t kHugePage = 1 << 21;

}  // namespace

HostMemory::HostMemory(std::size_t limit)
    : limit_(limit), in_use_(std::make_shared<std::atomic<std::size_t>>(0)) {}

std::shared_ptr<void> HostMemory::allocate(std::size_t bytes) {
  std::size_t in_use = in_use_->load();
  do {
    if (limit_ > 0 && (bytes > limit_ || in_use > limit_ - bytes))
      throw DeviceError(fmt::format("out of memory: {} B asked for, {} B in use, the limit is {} B",
                                    bytes, in_use, limit_));
  } while (!in_use_->compare_exchange_weak(in_use, in_use + bytes));
  // Matrix products of a model walk through far more memory than small pages' translations cover.
  const std::size_t alignment = bytes >= kHugePage ? kHugePage : kAlignment;
  const std::size_t rounded = (bytes / alignment + 1) * alignment;
  void* const data = std::aligned_alloc(alignment, rounded);
  if (!data) {
    *in_use_ -= bytes;
    throw DeviceError(fmt::format(
        "out of memory: {} B asked for, {} B in use, and the machine has no more", bytes, in_use));
  }
  if (alignment == kHugePage) madvise(data, rounded, MADV_HUGEPAGE);
  std::memset(data, 0, rounded);
  return {data, [counter = in_use_, bytes](void* memory) {
            std::free(memory);
            *counter -= bytes;
          }};
}

}  // namespace amsp
