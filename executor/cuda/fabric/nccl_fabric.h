#pragma once

#include <chrono>
#include <memory>

#include "executor/interface/communicator.h"
#include "executor/interface/device.h"
#include "executor/interface/world.h"

namespace amsp {

struct NcclOptions {
  /// For setting up a communicator, and for enqueuing on one.
  std::chrono::milliseconds timeout = std::chrono::minutes(5);
};

/// Communicators of NCCL: one over all ranks, whose id rank 0 hands out by `world`, and one split
/// off it for each mesh. All ranks call it; `world` is used only here, `device` is the cuda device
/// and must outlive the fabric, the fabric its communicators.
///
/// Ranks must enqueue on all communicators in one consistent order, as ranks that walk the same
/// task graph do; where communicators run beside each other NCCL_LAUNCH_ORDER_IMPLICIT=1 makes the
/// device start their kernels in the order in which the host enqueued them. NCCL refuses two ranks
/// on one GPU (peer_fabric.h runs several ranks on one).
///
/// The lost member isn't known to NCCL: DeviceError names this rank, the group, the label of the
/// first collective that isn't done, and NCCL's cause. After a failure every communicator of the
/// device is aborted.
std::unique_ptr<Fabric> make_nccl_fabric(World& world, Device& device, const NcclOptions& options);

}  // namespace amsp
