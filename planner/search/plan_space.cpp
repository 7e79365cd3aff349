#include "planner/search/plan_space.h"

#include <algorithm>

namespace amsp {

namespace {

std::vector<int> divisors(int number) {
  std::vector<int> result;
  for (int i = 1; i <= number; ++i)
    if (number % i == 0) result.push_back(i);
  return result;
}

/// Triples a | b | c of divisors of `number`.
double count_chains(int number) {
  const std::vector<int> all = divisors(number);
  double count = 0;
  for (const int c : all)
    for (const int b : all)
      if (c % b == 0)
        count += static_cast<double>(
            std::count_if(all.begin(), all.end(), [&](int a) { return b % a == 0; }));
  return count;
}

}  // namespace

std::vector<Mesh> meshes_on_few_nodes(Mesh dp) {
  std::vector<Mesh> result;
  for (const int intra : divisors(dp.intra)) result.push_back({intra, 1});
  for (const int inter : divisors(dp.inter))
    if (inter > 1) result.push_back({dp.intra, inter});
  return result;
}

PlanSpace enumerate_plans(Mesh dp) {
  PlanSpace space;
  space.dp = dp;
  const double meshes = static_cast<double>(dp.intra) * dp.inter;
  space.tuples = meshes * meshes * meshes;
  const double nested = count_chains(dp.intra) * count_chains(dp.inter);
  double on_few_nodes = 0;
  const std::vector<Mesh> all = meshes_on_few_nodes(dp);
  for (const Mesh p : all)
    for (const Mesh os : all) {
      if (!divides(p, os)) continue;
      on_few_nodes += static_cast<double>(std::count_if(
          all.begin(), all.end(), [&](Mesh g) { return divides(p, g) && divides(g, os); }));
      space.plans.push_back({p, p, os, dp, {}});
      if (os != p) space.plans.push_back({p, os, os, dp, {}});
    }
  space.removed = {{"nesting", space.tuples - nested},
                   {"fewest nodes", nested - on_few_nodes},
                   {"gradients", on_few_nodes - static_cast<double>(space.plans.size())}};
  return space;
}

std::vector<ShardingPlan> with_secondary(const ShardingPlan& plan) {
  std::vector<ShardingPlan> result;
  for (const Mesh p2 : meshes_on_few_nodes(plan.dp)) {
    if (!divides(p2, plan.p) || p2 == plan.p) continue;
    result.push_back(plan);
    result.back().p2 = p2;
  }
  return result;
}

}  // namespace amsp
