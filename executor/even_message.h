#pragma once

#include <cstdint>
#include <memory>

#include "executor/communicator.h"
#include "executor/device.h"

namespace amsp {

/// A message to time, and the memory it lies in.
struct TimedMessage {
  Message message;
  std::shared_ptr<void> memory;
  std::int64_t bytes = 0;
};

/// `bytes` (at least one element) cut evenly among the members; a broadcast sends all of them from
/// the first.
TimedMessage even_message(Device& device, CollectiveKind kind, DType type, int members,
                          std::int64_t bytes);

}  // namespace amsp
