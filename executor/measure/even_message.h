#pragma once

#include <cstdint>
#include <memory>

#include "executor/interface/communicator.h"
#include "executor/interface/device.h"

namespace amsp {

/// A message to time as the executor sends it: the member's own part is copied into an all-gather,
/// and added to what the member keeps after a reduce-scatter.
class EvenMessage {
 public:
  /// `bytes` (at least one element) cut evenly among the members; a broadcast sends all of them
  /// from the first. The communicator must outlive the message.
  EvenMessage(Device& device, Communicator& communicator, CollectiveKind kind, DType type,
              std::int64_t bytes);

  std::int64_t bytes() const { return bytes_; }
  /// The message must stay until the work is done.
  void enqueue(Stream& stream) const;

 private:
  Device& device_;
  Communicator& communicator_;
  std::int64_t bytes_;
  std::shared_ptr<void> memory_, kept_;
  Message message_;
};

}  // namespace amsp
