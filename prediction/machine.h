#pragma once

#include <memory>
#include <vector>

#include "lowering/compute_model.h"
#include "lowering/compute_profile.h"
#include "scenario/scenario.h"
#include "topology/collective/collective.h"
#include "topology/collective/scaled_collectives.h"
#include "topology/graph/cluster_graph.h"
#include "topology/spec/placement.h"

namespace amsp {

/// What is asked of a machine beyond what the scenario says.
struct MachineOptions {
  HardwareScale scale;           // what if
  bool even_broadcasts = false;  // see EvenBroadcasts

  bool operator==(const MachineOptions&) const = default;
};

/// A cluster with the ranks of a scenario placed on it, and the sources of its times: everything
/// that all plans share whose ranks are placed alike. Immutable, but for caches inside.
class Machine {
 public:
  /// Throws ConfigError, with the place in the scenario's file, if the cluster is inconsistent or
  /// its profile belongs to other hardware.
  explicit Machine(const Scenario& scenario, const MachineOptions& options = {});

  const ClusterGraph& cluster() const { return scaled_ ? *scaled_ : *nominal_; }
  const Placement& placement() const { return *placement_; }
  const CollectiveModel& collectives() const { return *collectives_; }
  const ComputeModel& compute() const { return *compute_; }
  /// Where times of kernels come from, in words: "kernels measured: on H100 SXM".
  const std::string& kernel_source() const { return kernel_source_; }
  /// Of the GPUs under each rank; empty if none is slow.
  const std::vector<double>& slowness() const { return slowness_; }

 private:
  std::unique_ptr<ClusterGraph> nominal_, scaled_;
  std::unique_ptr<Placement> placement_;
  std::unique_ptr<CollectiveModel> collectives_;
  std::unique_ptr<ComputeProfile> profile_;
  std::unique_ptr<ComputeModel> compute_;
  std::string kernel_source_;
  std::vector<double> slowness_;
};

/// Puts the place in front of messages about the cluster as a whole.
template <class Make>
auto at_cluster(const Scenario& scenario, Make make) {
  try {
    return make();
  } catch (const ConfigError& error) {
    throw ConfigError(scenario.file + "#/cluster: " + error.what());
  } catch (const InfeasibleError& error) {
    throw InfeasibleError(scenario.file + "#/cluster: " + error.what());
  }
}

}  // namespace amsp
