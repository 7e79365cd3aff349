#include "topology/collective/scaled_collectives.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"

namespace amsp {

ClusterSpec scaled(const ClusterSpec& cluster, const HardwareScale& scale) {
  ClusterSpec result = cluster;
  NodeSpec& node = result.node;
  for (BytesPerSec* rate : {&node.nvlink_bandwidth, &node.nvlink_capacity})
    *rate = scale.intra * *rate;
  // beside NVLink, PCIe carries what NICs do
  const double pcie = node.nvlink == NvlinkKind::kNone ? scale.intra : scale.inter;
  for (BytesPerSec* rate : {&node.pcie_bandwidth, &node.pcie_capacity}) *rate = pcie * *rate;
  for (BytesPerSec* rate :
       {&result.node.nic_bandwidth, &result.node.nic_capacity, &result.fabric.leaf_spine_bandwidth,
        &result.fabric.spine_core_bandwidth})
    *rate = scale.inter * *rate;
  const auto scale_cables = [](std::vector<CableSpec>& cables, double factor) {
    for (CableSpec& cable : cables)
      for (BytesPerSec* rate : {&cable.bandwidth, &cable.capacity}) *rate = factor * *rate;
  };
  scale_cables(result.node.cables, scale.intra);
  scale_cables(result.fabric.cables, scale.inter);
  result.gpu.memory =
      Bytes{std::llround(scale.memory * static_cast<double>(cluster.gpu.memory.value))};
  return result;
}

namespace {

/// The same call with the least of bytes: what it takes is latency.
CollectiveCall least(const CollectiveCall& call) {
  CollectiveCall result = call;
  result.bytes = 1_B;
  if (call.bytes_by_root.empty()) return result;
  result.bytes = 0_B;
  for (Bytes& bytes : result.bytes_by_root) {
    bytes = std::min(bytes, 1_B);
    result.bytes += bytes;
  }
  return result;
}

}  // namespace

ScaledCollectives::ScaledCollectives(std::unique_ptr<CollectiveModel> nominal,
                                     const ClusterGraph& graph, const ClusterGraph& scaled_graph,
                                     const Placement& placement, double latency)
    : nominal_(std::move(nominal)),
      network_(graph, placement),
      scaled_network_(scaled_graph, placement),
      latency_(latency) {
  AMSP_CHECK(graph.link_count() == scaled_graph.link_count(), "{} links became {}",
             graph.link_count(), scaled_graph.link_count());
}

CollectiveTime ScaledCollectives::time(const CollectiveCall& call) const {
  CollectiveTime result = nominal_->time(call);
  if (call.mesh.size() == 1 || call.bytes.value == 0) return result;
  const double stretch = scaled_network_.bottleneck(call.mesh).seconds_per_byte /
                         network_.bottleneck(call.mesh).seconds_per_byte;
  if (stretch == 1 && latency_ == 1) return result;
  const Seconds alone = std::min(result.time, nominal_->time(least(call)).time);
  Seconds time = latency_ * alone + stretch * (result.time - alone);
  for (const LinkLoad& load : nominal_->loads(call, 0))
    time.value =
        std::max(time.value, load.bytes / scaled_network_.graph().link(load.link).capacity.value);
  result.time = time;
  result.source = std::max(result.source, Source::kDerived);
  return result;
}

std::vector<LinkLoad> ScaledCollectives::loads(const CollectiveCall& call, int group) const {
  return nominal_->loads(call, group);
}

}  // namespace amsp
