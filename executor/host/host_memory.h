#pragma once

#include <atomic>
#include <cstddef>
#include <memory>

namespace amsp {

/// Gives out memory of the host up to a limit. Thread-safe.
class HostMemory {
 public:
  /// Zeroed, aligned to 256 bytes; counts until the last owner is gone, which may be after the end
  /// of this object. Throws DeviceError, naming what was asked for, what is in use and the limit.
  std::shared_ptr<void> allocate(std::size_t bytes);

  /// `limit`: 0 for none but the machine's.
  explicit HostMemory(std::size_t limit);

 private:
  const std::size_t limit_;
  const std::shared_ptr<std::atomic<std::size_t>> in_use_;
};

}  // namespace amsp
