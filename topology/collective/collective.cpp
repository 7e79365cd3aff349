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

double hop_share(CollectiveKind kind, int size, double whole) {
  const double n = size;
  switch (kind) {
    case CollectiveKind::kAllGather:
    case CollectiveKind::kReduceScatter:
      return whole * (n - 1) / n;
    case CollectiveKind::kAllReduce:
      return 2 * whole * (n - 1) / n;
    case CollectiveKind::kBroadcast:
      return size > 1 ? whole : 0;
  }
  throw InternalError("a CollectiveKind outside its enumeration");
}

double wire_bytes_per_rank(const CollectiveCall& call) {
  return hop_share(call.kind, call.mesh.size(), static_cast<double>(call.bytes.value));
}

}  // namespace amsp
