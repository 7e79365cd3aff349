#include "topology/collective/collective.h"

#include "core/error.h"

namespace amsp {

const char* to_string(CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::kAllGather:
      return "all_gather";
    case CollectiveKind::kReduceScatter:
      return "reduce_scatter";
    case CollectiveKind::kAllReduce:
      return "all_reduce";
    case CollectiveKind::kBroadcast:
      return "broadcast";
  }
  AMSP_CHECK(false, "unknown collective {}", static_cast<int>(kind));
}

double wire_bytes_per_rank(const CollectiveCall& call) {
  const auto bytes = static_cast<double>(call.bytes.value);
  const double n = call.mesh.size();
  switch (call.kind) {
    case CollectiveKind::kAllGather:
    case CollectiveKind::kReduceScatter:
      return bytes * (n - 1) / n;
    case CollectiveKind::kAllReduce:
      return 2 * bytes * (n - 1) / n;
    case CollectiveKind::kBroadcast:
      return n > 1 ? bytes : 0;
  }
  return 0;
}

}  // namespace amsp
