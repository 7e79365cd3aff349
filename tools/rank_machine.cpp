#include "tools/rank_machine.h"

#include "core/error.h"
#include "executor/fabric/socket_fabric.h"
#include "executor/host/host_device.h"
#ifdef AMSP_HAVE_CUDA
#include "executor/cuda/cuda_device.h"
#include "executor/cuda/fabric/nccl_fabric.h"
#include "executor/cuda/fabric/peer_fabric.h"
#endif

namespace amsp {

std::vector<std::string> device_kinds() {
  return {"host", "cuda"};
}

#ifdef AMSP_HAVE_CUDA

void require_device_kind(const std::string& kind) {
  if (kind != "cuda") return;
  if (const std::string why = why_no_cuda_device(); !why.empty())
    throw ConfigError("--device cuda: this machine can't run it: " + why);
}

std::unique_ptr<Device> make_rank_device(const std::string& kind, World& world) {
  if (kind == "cuda") return make_cuda_device({.ordinal = cuda_ordinal(world)});
  return make_host_device();
}

std::unique_ptr<Fabric> make_rank_fabric(const std::string& kind, World& world, Device& device,
                                         const std::string& interface,
                                         std::chrono::milliseconds patience) {
  if (kind == "cuda") return make_nccl_fabric(world, device, NcclOptions{patience});
  return std::make_unique<SocketFabric>(world, SocketOptions{interface, patience});
}

VirtualMachine make_virtual_machine(const std::string& kind, int ranks,
                                    std::chrono::milliseconds patience) {
  VirtualMachine machine;
  std::vector<Device*> devices;
  for (int rank = 0; rank < ranks; ++rank) {
    machine.devices.push_back(kind == "cuda" ? make_cuda_device({}) : make_host_device());
    devices.push_back(machine.devices.back().get());
  }
  if (kind == "cuda") machine.fabrics = make_peer_fabrics(devices, PeerOptions{patience});
  return machine;
}

#else

void require_device_kind(const std::string& kind) {
  if (kind == "cuda")
    throw ConfigError(
        "--device cuda: this build has no CUDA device; configure with -DAMSP_CUDA=ON, which says "
        "what is missing");
}

std::unique_ptr<Device> make_rank_device(const std::string&, World&) {
  return make_host_device();
}

std::unique_ptr<Fabric> make_rank_fabric(const std::string&, World& world, Device&,
                                         const std::string& interface,
                                         std::chrono::milliseconds patience) {
  return std::make_unique<SocketFabric>(world, SocketOptions{interface, patience});
}

VirtualMachine make_virtual_machine(const std::string&, int ranks, std::chrono::milliseconds) {
  VirtualMachine machine;
  for (int rank = 0; rank < ranks; ++rank) machine.devices.push_back(make_host_device());
  return machine;
}

#endif

}  // namespace amsp
