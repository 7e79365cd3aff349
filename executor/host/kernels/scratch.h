#pragma once

#include <cstddef>
#include <cstdint>

namespace amsp::host {

/// Memory for the intermediate values of one kernel, aligned to 64 bytes, not initialised. What is
/// taken is given back at the end of the Scratch, and kept by the thread for its next kernel.
class Scratch {
 public:
  Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch();

  /// Throws DeviceError if there isn't as much.
  template <typename T>
  T* take(std::int64_t count) {
    return static_cast<T*>(take_bytes(static_cast<std::size_t>(count) * sizeof(T)));
  }

 private:
  static void* take_bytes(std::size_t bytes);
  std::size_t first_;
};

}  // namespace amsp::host
