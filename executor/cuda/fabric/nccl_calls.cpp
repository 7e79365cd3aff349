#include "executor/cuda/fabric/nccl_calls.h"

#include "core/error.h"

namespace amsp::cuda {
namespace {

using Parts = std::vector<std::vector<Segment>>;

char* end_of(const Segment& segment, std::int64_t element_bytes) {
  return static_cast<char*>(segment.data) + segment.count * element_bytes;
}

/// Without empty segments; neighbours are one.
std::vector<Segment> merged(const std::vector<Segment>& segments, std::int64_t element_bytes) {
  std::vector<Segment> runs;
  for (const Segment& segment : segments) {
    if (segment.count == 0) continue;
    if (!runs.empty() && end_of(runs.back(), element_bytes) == segment.data)
      runs.back().count += segment.count;
    else
      runs.push_back(segment);
  }
  return runs;
}

/// True if there is a segment s in every part, if these have one count and lie back to back: NCCL's
/// own all-gather can do them at once.
bool even(const Parts& parts, std::size_t s, std::int64_t element_bytes) {
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (s >= parts[i].size() || parts[i][s].count != parts[0][s].count) return false;
    if (i > 0 && end_of(parts[i - 1][s], element_bytes) != parts[i][s].data) return false;
  }
  return true;
}

bool same_number(const Parts& parts) {
  for (const auto& part : parts)
    if (part.size() != parts[0].size()) return false;
  return true;
}

bool all_even(const Parts& parts, std::int64_t element_bytes) {
  if (!same_number(parts)) return false;
  for (std::size_t s = 0; s < parts[0].size(); ++s)
    if (!even(parts, s, element_bytes)) return false;
  return true;
}

void add_rooted(std::vector<NcclCall>& calls, NcclCall::Kind kind, const Segment& segment,
                std::size_t root) {
  if (segment.count > 0)
    calls.push_back({kind, segment.data, segment.count, static_cast<int>(root)});
}
std::vector<NcclCall> rooted(const Parts& parts, NcclCall::Kind kind) {
  std::vector<NcclCall> calls;
  for (std::size_t i = 0; i < parts.size(); ++i)
    for (const Segment& segment : parts[i]) add_rooted(calls, kind, segment, i);
  return calls;
}

}  // namespace

std::vector<NcclCall> nccl_calls(const Message& message, int size) {
  using Kind = NcclCall::Kind;
  AMSP_CHECK(std::ssize(message.parts) == size, "{} parts for {} members", message.parts.size(),
             size);
  if (size == 1) return {};
  const std::int64_t element_bytes = size_of(message.type);
  std::vector<NcclCall> calls;

  if (message.kind == CollectiveKind::kAllReduce) {
    std::vector<Segment> all;
    for (const auto& part : message.parts) all.insert(all.end(), part.begin(), part.end());
    for (const Segment& run : merged(all, element_bytes))
      calls.push_back({Kind::kAllReduce, run.data, run.count, -1});
    return calls;
  }

  Parts parts;
  for (const auto& part : message.parts) parts.push_back(merged(part, element_bytes));
  if (message.kind == CollectiveKind::kBroadcast) return rooted(parts, Kind::kBroadcast);
  const bool gather = message.kind == CollectiveKind::kAllGather;
  const Kind whole = gather ? Kind::kAllGather : Kind::kReduceScatter;
  const Kind by_root = gather ? Kind::kBroadcast : Kind::kReduce;
  if (!all_even(parts, element_bytes)) {
    if (!same_number(message.parts)) return rooted(parts, by_root);
    parts = message.parts;  // segments that correspond, as the caller cut them
  }
  for (std::size_t s = 0; s < parts[0].size(); ++s) {
    if (even(parts, s, element_bytes)) {
      if (parts[0][s].count > 0) calls.push_back({whole, parts[0][s].data, parts[0][s].count, -1});
    } else {
      for (std::size_t i = 0; i < parts.size(); ++i) add_rooted(calls, by_root, parts[i][s], i);
    }
  }
  return calls;
}

}  // namespace amsp::cuda
