#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "executor/interface/communicator.h"
#include "executor/interface/device.h"
#include "executor/interface/world.h"

namespace amsp {

/// The kinds of devices that ranks can run on: "host", "cuda".
std::vector<std::string> device_kinds();
/// Throws ConfigError if this build or this machine can't run the kind, saying why.
void require_device_kind(const std::string& kind);

/// The device of a rank that is a process of its own. All ranks of `world` call it.
std::unique_ptr<Device> make_rank_device(const std::string& kind, World& world);
/// Its fabric: sockets over `interface` (may be empty), or NCCL. All ranks call it.
std::unique_ptr<Fabric> make_rank_fabric(const std::string& kind, World& world, Device& device,
                                         const std::string& interface,
                                         std::chrono::milliseconds patience);

/// Devices and fabrics of virtual ranks, one of each a rank; all on one GPU, if the kind is "cuda".
/// No fabrics for "host": its ranks are threads that run_local connects.
struct VirtualMachine {
  std::vector<std::unique_ptr<Device>> devices;
  std::vector<std::unique_ptr<Fabric>> fabrics;
};
VirtualMachine make_virtual_machine(const std::string& kind, int ranks,
                                    std::chrono::milliseconds patience);

}  // namespace amsp
