#pragma once

#include <string>

#include "core/error.h"
#include "topology/mesh.h"

namespace amsp {

/// A member of a collective or exchange is gone or silent: "lost rank 3: Connection closed by
/// peer". Whoever learns of it passes the same text on, so that all survivors name the rank that
/// was lost first and not the neighbour that gave up because of it.
class LostRank : public DeviceError {
 public:
  using DeviceError::DeviceError;
};

inline std::string lost_rank_text(Rank rank, const std::string& why) {
  return "lost rank " + std::to_string(rank) + ": " + why;
}

}  // namespace amsp
