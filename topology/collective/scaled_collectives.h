#pragma once

#include <map>
#include <memory>

#include "topology/collective/collective.h"
#include "topology/collective/collective_ring.h"

namespace amsp {

/// What a cluster would be with faster or slower parts: each factor multiplies the rate, time or
/// size named.
struct HardwareScale {
  double intra = 1;    // bandwidth of NVLink, or without it of PCIe; of links given by themselves
  double inter = 1;    // bandwidth of NICs, the PCIe before them, and the fabric
  double latency = 1;  // what a collective takes for a single byte
  double compute = 1;  // rate of GEMMs and attention
  double memory = 1;   // capacity of a GPU's memory

  bool operator==(const HardwareScale&) const = default;
};

/// Bandwidths and their capacities, and the memory. Nothing else of a description changes:
/// latency and compute are the models' business.
ClusterSpec scaled(const ClusterSpec& cluster, const HardwareScale& scale);

/// Times of another model, measured or not, on a cluster with other bandwidths and latency:
///   t' = latency * t(1 byte) + (t - t(1 byte)) * b' / b
/// where b is what a byte takes over the slowest link of the mesh's rings, and b' the same on the
/// scaled cluster. So a time that beyond its latency is bound by a link stays as far from that
/// bound as it was; and none gets too short for the links that the call loads. Source kDerived
/// unless nothing changes.
class ScaledCollectives : public CollectiveModel {
 public:
  /// `nominal` is a model of a cluster like that of `graph`, `scaled_graph` the scaled one, with
  /// the same links in the same order. Graphs and placement must outlive the model.
  ScaledCollectives(std::unique_ptr<CollectiveModel> nominal, const ClusterGraph& graph,
                    const ClusterGraph& scaled_graph, const Placement& placement, double latency);
  CollectiveTime time(const CollectiveCall& call) const override;
  std::vector<LinkLoad> loads(const CollectiveCall& call, int group) const override;
  int load_pattern(const CollectiveCall& call) const override {
    return nominal_->load_pattern(call);
  }

 private:
  std::unique_ptr<CollectiveModel> nominal_;
  RingNetwork network_, scaled_network_;
  double latency_;
};

}  // namespace amsp
