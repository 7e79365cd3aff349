#include "sim/folded_shapes.h"

#include <algorithm>
#include <numeric>

#include "core/error.h"
#include "core/without_noise.h"

namespace amsp {

namespace {

/// One task of every work that is done at all, in order of works.
std::vector<Task> examples(const TaskGraph& graph, WorkKind kind) {
  std::map<std::int32_t, Task> by_work;
  for (const Task& task : graph.tasks())
    if (task.kind == kind) by_work.try_emplace(task.work, task);
  std::vector<Task> result;
  result.reserve(by_work.size());
  for (const auto& [work, task] : by_work) result.push_back(task);
  return result;
}

}  // namespace

FoldedShapes::Rounding::Rounding(const Fractions& fractions)
    : fractions_(fractions.begin(), fractions.end()) {
  if (!fractions.empty()) quantised_ = quantise(fractions);
}

int FoldedShapes::Rounding::weight(double fraction) const {
  if (fraction <= 0) return 0;
  const auto at = std::lower_bound(fractions_.begin(), fractions_.end(), fraction);
  AMSP_CHECK(at != fractions_.end() && *at == fraction, "a fraction of {} was not announced",
             fraction);
  return quantised_.weights[static_cast<std::size_t>(at - fractions_.begin())];
}

FoldedShapes::FoldedShapes(const Lowering& lowering, const Symmetry& symmetry)
    : lowering_(lowering),
      loads_(lowering.load_graph()),
      patterns_(loads_.patterns()),
      symmetry_(symmetry) {
  computes_ = examples(lowering.graph(), WorkKind::kCompute);
  collectives_ = examples(lowering.graph(), WorkKind::kCollective);
  by_pattern_.resize(static_cast<std::size_t>(patterns_.count()));
  for (const Task& task : collectives_)
    if (const int pattern = patterns_.share(task.work).pattern; pattern >= 0)
      by_pattern_[static_cast<std::size_t>(pattern)].push_back(&task);
  add_links();
  add_ranks();
  share_shapes();
}

int FoldedShapes::add_resource(double scale) {
  scales_.push_back(scale);
  return static_cast<int>(scales_.size()) - 1;
}

void FoldedShapes::use(std::map<Key, Workload::Shape>& shapes, Key key, int resource, int weight) {
  if (weight > 0) shapes[key].uses.push_back({resource, weight});
}

void FoldedShapes::add_links() {
  struct Load {
    Key key;  // work, class of groups
    double fraction;
  };
  std::vector<Load> users;
  for (const LinkId link : symmetry_.links.first) {
    users.clear();
    for (const LoadGraph::Edge& edge : loads_.groups_of(link)) {
      const int group_class = symmetry_.groups.of[static_cast<std::size_t>(edge.end)];
      for (const auto& [pattern, bytes] : loads_.label(edge.label))
        for (const Task* task : by_pattern_[static_cast<std::size_t>(pattern)]) {
          const double factor = patterns_.share(task->work).factor;
          const double fraction =
              without_noise(lowering_.link_fraction(*task, {link, factor * bytes}));
          users.push_back({{task->work, group_class}, fraction});
        }
    }
    Fractions fractions;
    for (const Load& load : users)
      if (load.fraction > 0) fractions.insert(load.fraction);
    if (fractions.empty()) continue;
    const Rounding rounding(fractions);
    std::map<Key, int> row_sums;
    int common = 0;
    for (const Load& load : users) {
      const int weight = rounding.weight(load.fraction);
      if (weight > 0) row_sums[load.key] += weight;
    }
    for (const auto& [key, sum] : row_sums) common = std::gcd(common, sum);
    if (common == 0) continue;
    const int resource = add_resource(rounding.scale() / common);
    for (const auto& [key, sum] : row_sums) use(collective_uses_, key, resource, sum / common);
  }
}

void FoldedShapes::add_ranks() {
  // What every rank of a mesh's groups does; a rank is in one group of each mesh.
  std::vector<double> sms, hbm;  // by collectives_
  Fractions all_sms = {1.0}, all_hbm;
  for (const Task& task : collectives_) {
    sms.push_back(without_noise(lowering_.sm_fraction(task)));
    hbm.push_back(without_noise(lowering_.hbm_fraction(task)));
    if (sms.back() > 0) all_sms.insert(sms.back());
    if (hbm.back() > 0) all_hbm.insert(hbm.back());
  }
  const Rounding sm_rounding(all_sms);
  std::map<Fractions, Rounding> known;
  std::vector<const Rounding*> hbm_roundings;
  std::vector<int> resources;  // by class: its SMs, then its HBM
  for (int rank_class = 0; rank_class < symmetry_.ranks.count(); ++rank_class) {
    const Rank rank = symmetry_.ranks.first[static_cast<std::size_t>(rank_class)];
    std::vector<double> shares;  // by computes_
    Fractions fractions = all_hbm;
    for (const Task& task : computes_) {
      shares.push_back(0);
      for (const ResourceUse& use : lowering_.compute_uses(task, rank))
        if (lowering_.kind(use.resource) == ResourceKind::kHbm)
          shares.back() = without_noise(use.fraction);
      if (shares.back() > 0) fractions.insert(shares.back());
    }
    const Rounding& rounding = known.try_emplace(fractions, fractions).first->second;
    const int first = add_resource(sm_rounding.scale());
    add_resource(rounding.scale());
    for (std::size_t i = 0; i < computes_.size(); ++i) {
      const Key key{computes_[i].work, rank_class};
      use(compute_uses_, key, first, sm_rounding.weight(1.0));
      use(compute_uses_, key, first + 1, rounding.weight(shares[i]));
    }
    resources.push_back(first);
    hbm_roundings.push_back(&rounding);
  }
  for (int group_class = 0; group_class < symmetry_.groups.count(); ++group_class) {
    const int group = symmetry_.groups.first[static_cast<std::size_t>(group_class)];
    const SubMesh& mesh = loads_.meshes()[static_cast<std::size_t>(loads_.mesh_of(group))];
    std::set<int> rank_classes;
    for (const Rank rank : loads_.members(group))
      rank_classes.insert(symmetry_.ranks.of[static_cast<std::size_t>(rank)]);
    for (std::size_t i = 0; i < collectives_.size(); ++i) {
      if (lowering_.graph().collective(collectives_[i]).call.mesh != mesh) continue;
      const Key key{collectives_[i].work, group_class};
      for (const int rank_class : rank_classes) {
        const auto at = static_cast<std::size_t>(rank_class);
        use(collective_uses_, key, resources[at], sm_rounding.weight(sms[i]));
        use(collective_uses_, key, resources[at] + 1, hbm_roundings[at]->weight(hbm[i]));
      }
      collective_uses_.try_emplace(key);  // of a lone rank, or no bytes
    }
  }
}

/// Works with the same weights share a shape.
void FoldedShapes::share_shapes() {
  std::map<std::vector<Workload::Use>, int> known;
  const auto share = [&](const auto& uses, std::map<Key, int>& shapes) {
    for (const auto& [key, shape] : uses) {
      const auto [same, is_new] = known.try_emplace(shape.uses, static_cast<int>(shapes_.size()));
      if (is_new) shapes_.push_back(shape);
      shapes.emplace(key, same->second);
    }
  };
  share(compute_uses_, compute_);
  share(collective_uses_, collective_);
  compute_uses_.clear();
  collective_uses_.clear();
}

void FoldedShapes::fill(Workload& workload) const {
  workload.scales = scales_;
  workload.shapes = shapes_;
}

}  // namespace amsp
