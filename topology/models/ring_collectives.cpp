#include <algorithm>

#include "topology/collective/ring_latency.h"
#include "topology/models/collective_models.h"

namespace amsp {

RingCollectives::RingCollectives(const ClusterGraph& graph, const Placement& placement)
    : network_(graph, placement) {}

CollectiveTime RingCollectives::time(const CollectiveCall& call) const {
  if (call.mesh.size() == 1 || call.bytes.value == 0) return {{}, Source::kModelled, false};
  const NvlinkKind nvlink = network_.graph().spec().node.nvlink;
  const double hop_bytes =
      hop_share(call.kind, call.mesh.size()) * static_cast<double>(call.bytes.value);
  const Seconds moving{hop_bytes * network_.bottleneck(call.mesh).seconds_per_byte};
  return {ring_latency(call.kind, call.mesh.shape, nvlink) +
              later_messages(call) * next_message_latency(call.mesh.shape, nvlink) + moving,
          Source::kModelled, false};
}

std::vector<LinkLoad> RingCollectives::loads(const CollectiveCall& call, int group) const {
  return network_.loads(call, group);
}

}  // namespace amsp
