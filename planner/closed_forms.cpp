#include "planner/closed_forms.h"

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
  const int block = block_nodes(plan);
  if (const auto found = by_block_.find(block); found != by_block_.end()) return *found->second;
  const Placement placement(scenario_.cluster, plan.dp, block, scenario_.placement);
  std::vector<int> nodes;
  for (int node = 0; node < plan.dp.inter; ++node) nodes.push_back(placement.node(node));
  const auto [found, added] = by_placement_.try_emplace(std::move(nodes));
  if (added) {
    auto machine = std::make_shared<Machine>(scenario_, block, MachineOptions{scale_, false});
    auto collectives = std::make_shared<Remembering>(machine->collectives());
    found->second = {std::move(machine), nullptr, std::move(collectives)};
  }
  by_block_[block] = &found->second;
  return found->second;
}

std::shared_ptr<const Machine> ClosedForms::screening_machine(const ShardingPlan& plan) {
  Shared& shared_here = shared(plan);
  if (!shared_here.screening)
    shared_here.screening =
        std::make_shared<Machine>(scenario_, block_nodes(plan), MachineOptions{scale_, true});
  return shared_here.screening;
}

PaperCost ClosedForms::t_comm(const Candidate& candidate) {
  return paper_cost(scenario_.model, candidate.training, candidate.plan, scenario_.engine,
                    *shared(candidate.plan).collectives);
}

}  // namespace amsp
