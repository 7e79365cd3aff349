#include "executor/host/kernels/scratch.h"

#include <cstdlib>
#include <memory>
#include <vector>

#include "core/error.h"

namespace amsp::host {
namespace {

constexpr std::size_t kAlignment = 64;

struct Free {
  void operator()(void* data) const { std::free(data); }
};
struct Buffer {
  std::unique_ptr<void, Free> data;
  std::size_t bytes = 0;
};

// Buffers by the order in which a kernel takes them, so that the kernels of a training step, which
// take the same again and again, soon find them large enough.
thread_local std::vector<Buffer> buffers;
thread_local std::size_t used = 0;

}  // namespace

Scratch::Scratch() : first_(used) {}
Scratch::~Scratch() {
  used = first_;
}

void* Scratch::take_bytes(std::size_t bytes) {
  if (used == buffers.size()) buffers.emplace_back();
  Buffer& buffer = buffers[used];
  if (buffer.bytes < bytes || !buffer.data) {
    const std::size_t rounded = (bytes / kAlignment + 1) * kAlignment;
    buffer.bytes = 0;
    buffer.data.reset();
    buffer.data.reset(std::aligned_alloc(kAlignment, rounded));
    if (!buffer.data)
      throw DeviceError(fmt::format("no memory for {} B of a kernel's scratch", bytes));
    buffer.bytes = rounded;
  }
  ++used;
  return buffer.data.get();
}

}  // namespace amsp::host
