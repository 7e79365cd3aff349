#pragma once

#include <chrono>
#include <string>

#include "core/error.h"
#include "topology/spec/mesh.h"

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

/// Why a silent rank is taken for lost. Whoever waits longest is first to say so; its neighbour may
/// only have passed on the silence of another.
inline std::string silence_text(std::chrono::milliseconds patience) {
  return fmt::format("it didn't come within {} ms; it may wait for another rank", patience.count());
}

}  // namespace amsp
