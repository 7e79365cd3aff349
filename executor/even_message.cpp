#include "executor/even_message.h"

#include <algorithm>

namespace amsp {

TimedMessage even_message(Device& device, CollectiveKind kind, DType type, int members,
                          std::int64_t bytes) {
  const std::int64_t elements = std::max<std::int64_t>(1, bytes / size_of(type));
  const std::int64_t share = (elements + members - 1) / members;
  TimedMessage timed{{kind, type, {}},
                     device.allocate(static_cast<std::size_t>(share * members * size_of(type))),
                     elements * size_of(type)};
  std::int64_t from = 0;
  for (int i = 0; i < members; ++i) {
    std::int64_t count = std::max<std::int64_t>(0, std::min(share, elements - from));
    if (kind == CollectiveKind::kBroadcast) count = i == 0 ? elements : 0;
    timed.message.parts.emplace_back();
    if (count > 0)
      timed.message.parts.back().push_back(
          {static_cast<std::byte*>(timed.memory.get()) + from * size_of(type), count});
    from += count;
  }
  return timed;
}

}  // namespace amsp
