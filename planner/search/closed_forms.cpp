#include "planner/search/closed_forms.h"

#include <cstdint>
#include <tuple>

namespace amsp {

/// A search asks for the same few hundred collectives again and again: every layer, every plan.
class ClosedForms::Remembering : public CollectiveModel {
 public:
  explicit Remembering(const CollectiveModel& model) : model_(model) {}
  CollectiveTime time(const CollectiveCall& call) const override {
    const auto [found, added] = times_.try_emplace({call.kind, call.mesh, call.bytes});
    if (added) {
      try {
        found->second = model_.time(call);
      } catch (...) {
        times_.erase(found);
        throw;
      }
    }
    return found->second;
  }
  std::vector<LinkLoad> loads(const CollectiveCall& call, int group) const override {
    return model_.loads(call, group);
  }
  int load_pattern(const CollectiveCall& call) const override { return model_.load_pattern(call); }

 private:
  /// Calls of the closed form have one root, the first member.
  using Key = std::tuple<CollectiveKind, SubMesh, Bytes>;
  const CollectiveModel& model_;
  mutable std::map<Key, CollectiveTime> times_;
};

ClosedForms::ClosedForms(const Scenario& scenario, const HardwareScale& scale)
    : scenario_(scenario), scale_(scale), scaled_cluster_(scaled(scenario.cluster, scale)) {}

MemoryEstimate ClosedForms::memory(const Candidate& candidate) const {
  return estimate_memory(scenario_.model, candidate.training, candidate.plan, scenario_.engine,
                         scaled_cluster_);
}

ClosedForms::Shared& ClosedForms::shared(const ShardingPlan& plan) {
  if (const auto known = by_os_nodes_.find(plan.os.inter); known != by_os_nodes_.end())
    return *known->second;
  Scenario placed = scenario_;
  placed.plan = plan;
  const Placement placement = place(placed);
  std::vector<int> nodes;
  for (int node = 0; node < plan.dp.inter; ++node) nodes.push_back(placement.node(node));
  auto found = by_placement_.find(nodes);
  if (found == by_placement_.end()) {
    auto machine = std::make_shared<Machine>(placed, MachineOptions{scale_, false});
    auto collectives = std::make_shared<Remembering>(machine->collectives());
    found =
        by_placement_
            .emplace(std::move(nodes), Shared{std::move(machine), nullptr, std::move(collectives)})
            .first;
  }
  by_os_nodes_[plan.os.inter] = &found->second;
  return found->second;
}

std::shared_ptr<const Machine> ClosedForms::screening_machine(const ShardingPlan& plan) {
  Shared& here = shared(plan);
  if (!here.screening) {
    Scenario placed = scenario_;
    placed.plan = plan;
    here.screening = std::make_shared<Machine>(placed, MachineOptions{scale_, true});
  }
  return here.screening;
}

PaperCost ClosedForms::t_comm(const Candidate& candidate) {
  return paper_cost(scenario_.model, candidate.training, candidate.plan, scenario_.engine,
                    *shared(candidate.plan).collectives);
}

}  // namespace amsp
