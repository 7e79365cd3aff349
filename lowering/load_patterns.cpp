#include "lowering/load_patterns.h"

#include <map>
#include <tuple>

namespace amsp {

LoadPatterns::LoadPatterns(const Lowering& lowering) : lowering_(lowering) {
  const TaskGraph& graph = lowering.graph();
  shares_.resize(graph.collective_works().size());
  std::map<std::tuple<SubMesh, int, bool, std::vector<Bytes>>, int> known;
  for (const Task& task : graph.tasks()) {
    if (task.kind != WorkKind::kCollective) continue;
    Share& share = shares_[static_cast<std::size_t>(task.work)];
    const CollectiveCall& call = graph.collective(task).call;
    if (share.pattern >= 0 || wire_bytes_per_rank(call) <= 0) continue;
    const bool from_first = call.kind == CollectiveKind::kBroadcast && call.bytes_by_root.empty();
    const auto [found, is_new] =
        known.try_emplace({call.mesh, lowering.load_pattern(call), from_first, call.bytes_by_root},
                          static_cast<int>(examples_.size()));
    if (is_new) examples_.push_back(task);
    const Task& example = examples_[static_cast<std::size_t>(found->second)];
    share = {found->second,
             wire_bytes_per_rank(call) / wire_bytes_per_rank(graph.collective(example).call)};
  }
}

const SubMesh& LoadPatterns::mesh(int pattern) const {
  return lowering_.graph().collective(examples_[static_cast<std::size_t>(pattern)]).call.mesh;
}

}  // namespace amsp
