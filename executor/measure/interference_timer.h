#pragma once

#include <cstdint>
#include <vector>

#include "core/units.h"
#include "executor/interface/communicator.h"
#include "executor/interface/device.h"
#include "executor/interface/world.h"

namespace amsp {

struct InterferenceRules {
  int rounds = 7;            // of products alone, collectives alone, both; medians count
  Seconds round_time{0.15};  // of each of them, at least
};

/// A matrix product [m, k] [k, n] to compute beside collectives.
struct ProductShape {
  std::int64_t m = 0, n = 0, k = 0;
};

/// What collectives and products cost each other: mean times of one product, and of one collective
/// of each size. The slowest rank counts.
struct Interference {
  Seconds product_alone, product_beside;
  Seconds collectives_alone, collectives_beside;

  /// Compute that collectives take from their rank, per second that they take alone; in [0, 1].
  /// Beside them a product advances at product_alone / product_beside of its pace, for
  /// collectives_beside.
  double compute_share() const;
};

/// Times one operation on all groups of a family, of all these sizes in turn, beside products on
/// every rank. All ranks of dp call it with the same arguments; all get the same result. Needs
/// ranks that share a monotonic clock. Throws DeviceError if they never ran at once.
Interference time_interference(World& world, Fabric& fabric, Device& device, CollectiveKind kind,
                               const SubMesh& mesh, Mesh dp, DType type,
                               const std::vector<Bytes>& sizes, const ProductShape& shape,
                               const InterferenceRules& rules = {});

}  // namespace amsp
