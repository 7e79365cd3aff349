#pragma once

#include <chrono>
#include <memory>
#include <vector>

#include "executor/interface/communicator.h"
#include "executor/interface/device.h"

namespace amsp {

struct PeerOptions {
  /// For the members of a group to come to a collective.
  std::chrono::milliseconds timeout = std::chrono::minutes(5);
};

/// Fabrics of virtual ranks: several ranks as threads of one process on one GPU, where NCCL refuses
/// them. Element r is for the thread of rank r, whose device (the cuda device, of the same GPU for
/// all) its open() gets from `devices`; they must outlive the fabrics.
///
/// Data moves by copies on the GPU, sums by a kernel that adds the members in order of position,
/// wide, and rounds once. Enqueuing waits on the host until all members of the group have enqueued,
/// so it takes as long as the slowest thread: times say nothing about an interconnect. At most 64
/// members a group.
std::vector<std::unique_ptr<Fabric>> make_peer_fabrics(const std::vector<Device*>& devices,
                                                       const PeerOptions& options);

}  // namespace amsp
