#pragma once

#include <cstddef>
#include <memory>

namespace amsp {

/// Memory of the host, zeroed, aligned to 256 bytes; huge pages where it is large. Throws
/// DeviceError if the machine has no more.
std::shared_ptr<void> allocate_host_memory(std::size_t bytes);

}  // namespace amsp
