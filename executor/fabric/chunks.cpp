#include "executor/fabric/chunks.h"

#include <algorithm>
#include <cstring>

namespace amsp {
namespace {

/// Walks a run of segments; take() cuts off its beginning.
class Run {
 public:
  Run(std::vector<Segment> segments, std::int64_t element_bytes)
      : segments_(std::move(segments)), element_bytes_(element_bytes) {}

  std::vector<Segment> take(std::int64_t count) {
    std::vector<Segment> taken;
    while (count > 0 && next_ < segments_.size()) {
      Segment& first = segments_[next_];
      const std::int64_t n = std::min(count, first.count);
      if (n > 0) taken.push_back({first.data, n});
      first.data = static_cast<std::byte*>(first.data) + n * element_bytes_;
      first.count -= n;
      count -= n;
      if (first.count == 0) ++next_;
    }
    return taken;
  }

 private:
  std::vector<Segment> segments_;
  std::int64_t element_bytes_;
  std::size_t next_ = 0;
};

}  // namespace

std::int64_t count_of(std::span<const Segment> segments) {
  std::int64_t count = 0;
  for (const Segment& segment : segments) count += segment.count;
  return count;
}

std::vector<Chunk> cut(std::span<const Segment> segments, std::int64_t element_bytes,
                       std::int64_t most) {
  Run run({segments.begin(), segments.end()}, element_bytes);
  std::vector<Chunk> chunks;
  for (std::int64_t left = count_of(segments); left > 0; left -= most) {
    chunks.push_back(run.take(most));
  }
  return chunks;
}

std::vector<std::vector<Segment>> even_slots(std::span<const std::vector<Segment>> parts,
                                             std::int64_t element_bytes, int n) {
  std::vector<Segment> all;
  for (const auto& part : parts) all.insert(all.end(), part.begin(), part.end());
  const std::int64_t count = count_of(all);
  Run run(std::move(all), element_bytes);
  std::vector<std::vector<Segment>> slots;
  for (int i = 0; i < n; ++i) slots.push_back(run.take(count / n + (i < count % n ? 1 : 0)));
  return slots;
}

void gather(const Chunk& chunk, std::int64_t element_bytes, std::byte* to) {
  for (const Segment& segment : chunk) {
    const auto bytes = static_cast<std::size_t>(segment.count * element_bytes);
    std::memcpy(to, segment.data, bytes);
    to += bytes;
  }
}

void scatter(const Chunk& chunk, std::int64_t element_bytes, const std::byte* from) {
  for (const Segment& segment : chunk) {
    const auto bytes = static_cast<std::size_t>(segment.count * element_bytes);
    std::memcpy(segment.data, from, bytes);
    from += bytes;
  }
}

}  // namespace amsp
