#pragma once

#include <memory>

#include "lowering/compute_model.h"
#include "lowering/compute_profile.h"
#include "scenario/scenario.h"
#include "topology/cluster_graph.h"
#include "topology/collective.h"
#include "topology/placement.h"
#include "topology/scaled_collectives.h"

namespace amsp {

/// What is asked of a machine beyond what the scenario says.
struct MachineOptions {
  HardwareScale scale;           // what if
  bool even_broadcasts = false;  // see EvenBroadcasts

  bool operator==(const MachineOptions&) const = default;
};

/// A cluster with a data-parallel mesh placed on it, and the sources of its times: everything that
/// all plans with the same `block_nodes` share. Immutable, but for caches inside.
class Machine {
 public:
  /// `block_nodes` as in Placement. Throws ConfigError, with the place in the scenario's file, if
  /// the cluster is inconsistent or its profile belongs to other hardware.
  Machine(const Scenario& scenario, int block_nodes, const MachineOptions& options = {});

  const ClusterGraph& cluster() const { return scaled_ ? *scaled_ : *nominal_; }
  const Placement& placement() const { return *placement_; }
  const CollectiveModel& collectives() const { return *collectives_; }
  const ComputeModel& compute() const { return *compute_; }

 private:
  std::unique_ptr<ClusterGraph> nominal_, scaled_;
  std::unique_ptr<Placement> placement_;
  std::unique_ptr<CollectiveModel> collectives_;
  std::unique_ptr<ComputeProfile> profile_;
  std::unique_ptr<ComputeModel> compute_;
};

/// Nodes that the widest sharding group spans: what should lie under one leaf.
int block_nodes(const ShardingPlan& plan);

/// Puts the place in front of messages about the cluster as a whole.
template <class Make>
auto at_cluster(const Scenario& scenario, Make make) {
  try {
    return make();
  } catch (const ConfigError& error) {
    throw ConfigError(scenario.file + "#/cluster: " + error.what());
  }
}

}  // namespace amsp
