#include "executor/measure/even_message.h"

#include <algorithm>

namespace amsp {

EvenMessage::EvenMessage(Device& device, Communicator& communicator, CollectiveKind kind,
                         DType type, std::int64_t bytes)
    : device_(device), communicator_(communicator), message_{kind, type, {}} {
  const std::int64_t members = communicator.size();
  const std::int64_t elements = std::max<std::int64_t>(1, bytes / size_of(type));
  const std::int64_t share = (elements + members - 1) / members;
  bytes_ = elements * size_of(type);
  memory_ = device.allocate(static_cast<std::size_t>(share * members * size_of(type)));
  kept_ = device.allocate(static_cast<std::size_t>(share * size_of(type)));
  std::int64_t from = 0;
  for (std::int64_t i = 0; i < members; ++i) {
    std::int64_t count = std::max<std::int64_t>(0, std::min(share, elements - from));
    if (kind == CollectiveKind::kBroadcast) count = i == 0 ? elements : 0;
    message_.parts.emplace_back();
    if (count > 0)
      message_.parts.back().push_back(
          {static_cast<std::byte*>(memory_.get()) + from * size_of(type), count});
    from += count;
  }
}

void EvenMessage::enqueue(Stream& stream) const {
  const auto& own = message_.parts[static_cast<std::size_t>(communicator_.position())];
  if (message_.kind == CollectiveKind::kAllGather)
    for (const Segment& part : own)
      device_.run(stream,
                  Convert{part.count, message_.type, kept_.get(), message_.type, part.data, false});
  communicator_.enqueue(stream, message_);
  if (message_.kind == CollectiveKind::kReduceScatter)
    for (const Segment& part : own)
      device_.run(stream,
                  Convert{part.count, message_.type, part.data, message_.type, kept_.get(), true});
}

}  // namespace amsp
