#pragma once

#include <map>
#include <memory>
#include <vector>

#include "planner/search/candidate.h"
#include "prediction/closed_form.h"
#include "prediction/machine.h"
#include "training/memory.h"

namespace amsp {

/// What candidates cost without a simulation, on the cluster of one scenario. Machines are built
/// when first needed and shared by all plans that place their ranks alike.
class ClosedForms {
 public:
  /// `scale` asks what if; the memory of its GPUs counts too.
  explicit ClosedForms(const Scenario& scenario, const HardwareScale& scale = {});

  const Scenario& scenario() const { return scenario_; }
  MemoryEstimate memory(const Candidate& candidate) const;
  /// The paper's T_comm. Throws ConfigError where the profile has no answer.
  PaperCost t_comm(const Candidate& candidate);
  std::shared_ptr<const Machine> machine(const ShardingPlan& plan) { return shared(plan).machine; }
  /// The same with even broadcasts.
  std::shared_ptr<const Machine> screening_machine(const ShardingPlan& plan);

 private:
  /// Remembers times.
  class Remembering;
  struct Shared {
    std::shared_ptr<const Machine> machine, screening;
    std::shared_ptr<Remembering> collectives;
  };
  Shared& shared(const ShardingPlan& plan);

  Scenario scenario_;
  HardwareScale scale_;
  ClusterSpec scaled_cluster_;
  std::map<std::vector<int>, Shared> by_placement_;
  std::map<int, Shared*> by_os_nodes_;  // what a placement depends on
};

}  // namespace amsp
