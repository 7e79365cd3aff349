#include "sim/expansion.h"

#include <gtest/gtest.h>

#include <numeric>

#include "tests/sim/small_cluster.h"

namespace amsp {
namespace {

TEST(Expansion, OneActivityPerRankOrGroup) {
  const SmallCase c({{2, 1}, {2, 1}, {2, 2}, {2, 2}, {}});
  const Expansion expansion = expand(c.lowering);
  int expected = 0;
  for (const Task& task : c.graph.tasks()) {
    if (task.kind == WorkKind::kCollective) {
      expected += c.graph.dp.size() / c.graph.collective(task).call.mesh.size();
    } else {
      expected += c.graph.dp.size();
    }
  }
  EXPECT_EQ(static_cast<int>(expansion.workload.activities.size()), expected);
}

TEST(Expansion, PredecessorsComeFirstAndWeightsFit) {
  const SmallCase c({{2, 1}, {2, 1}, {2, 2}, {2, 2}, {}});
  const Workload workload = expand(c.lowering).workload;
  for (int i = 0; i < static_cast<int>(workload.activities.size()); ++i)
    for (const int pred : workload.predecessors(i)) EXPECT_LT(pred, i);
  for (const Workload::Shape& shape : workload.shapes)
    for (const ResourceUse& use : shape.uses) {
      EXPECT_GT(use.weight, 0);
      EXPECT_LE(use.weight, workload.scales[static_cast<std::size_t>(use.resource)]);
    }
}

TEST(Expansion, AGroupWaitsForAllItsMembers) {
  const SmallCase c({{2, 1}, {2, 1}, {2, 2}, {2, 2}, {}});
  const Expansion expansion = expand(c.lowering);
  for (int i = 0; i < c.graph.size(); ++i) {
    const auto id = static_cast<TaskId>(i);
    const Task& task = c.graph[id];
    if (task.kind != WorkKind::kCollective) continue;
    const auto& groups = c.lowering.groups(c.graph.collective(task).call.mesh);
    for (std::size_t group = 0; group < groups.size(); ++group) {
      const int activity = expansion.activity(id, task.stream, groups[group].front());
      const auto preds = expansion.workload.predecessors(activity);
      for (const TaskId dep : c.graph.deps(id))
        for (const Rank rank : groups[group])
          EXPECT_NE(std::find(preds.begin(), preds.end(),
                              expansion.activity(dep, c.graph[dep].stream, rank)),
                    preds.end());
    }
  }
}

TEST(Expansion, SiblingGroupsShareTheNodesNic) {
  // Two GPUs and one NIC a node: both groups of the 1x2 mesh need the NIC.
  const SmallCase c({{2, 1}, {2, 1}, {2, 1}, {2, 2}, {}});
  const Workload workload = expand(c.lowering).workload;
  std::vector<std::vector<int>> users(workload.scales.size());
  for (std::size_t i = 0; i < workload.shapes.size(); ++i)
    for (const ResourceUse& use : workload.shapes[i].uses)
      users[static_cast<std::size_t>(use.resource)].push_back(static_cast<int>(i));
  int shared = 0;
  for (LinkId link = 0; link < c.cluster.link_count(); ++link)
    if (c.cluster.link(link).kind == LinkKind::kNic && users[static_cast<std::size_t>(link)].size() > 1)
      ++shared;
  EXPECT_GT(shared, 0);
}

}  // namespace
}  // namespace amsp
