#pragma once

#include <string>

#include "executor/interface/world.h"

namespace amsp {

// Texts that are equal for two processes of one operating system that share what is named. They
// tell processes of different machines, and of different containers or network namespaces, apart.

/// The monotonic clock.
std::string clock_domain();
/// Whether all ranks read the same monotonic clock. All of them call it.
bool has_one_clock(World& world);
/// The network: loopback connects them.
std::string network_domain();
/// The process ids.
std::string process_domain();

}  // namespace amsp
