#include "topology/collective/ring_latency.h"

namespace amsp {
namespace {

Seconds hop_inside(NvlinkKind nvlink) {
  return nvlink == NvlinkKind::kNone ? kPcieHop : kNvlinkHop;
}

}  // namespace

Seconds ring_latency(CollectiveKind kind, Mesh mesh, NvlinkKind nvlink) {
  if (mesh.size() == 1) return {};
  const int passes = kind == CollectiveKind::kAllReduce ? 2 : 1;
  const int outside = mesh.inter - 1;
  const int inside = mesh.size() - 1 - outside;
  return kRingBase + passes * (inside * hop_inside(nvlink) + outside * kNetworkHop);
}

Seconds next_message_latency(Mesh mesh, NvlinkKind nvlink) {
  return kRingBase + (mesh.inter > 1 ? kNetworkHop : hop_inside(nvlink));
}

}  // namespace amsp
