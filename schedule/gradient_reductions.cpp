#include "schedule/gradient_reductions.h"

namespace amsp {

std::vector<GradientReduction> gradient_reductions(const ShardingPlan& plan,
                                                   const EnginePolicy& engine, bool last) {
  std::vector<GradientReduction> result;
  const auto add = [&](CollectiveKind kind, Mesh a, Mesh b) {
    const SubMesh mesh = quotient(a, b);
    if (mesh.size() > 1) result.push_back({kind, mesh});
  };
  const bool scattered = engine.grad_reduction == GradReduction::kReduceScatter;
  if (last || engine.replica_sync == ReplicaSync::kEvery) {
    if (scattered) {
      add(CollectiveKind::kReduceScatter, plan.os, plan.p);
      add(CollectiveKind::kAllReduce, plan.dp, plan.os);
    } else {
      add(CollectiveKind::kAllReduce, plan.dp, plan.p);
    }
  } else {
    add(scattered ? CollectiveKind::kReduceScatter : CollectiveKind::kAllReduce, plan.g, plan.p);
  }
  return result;
}

}  // namespace amsp
