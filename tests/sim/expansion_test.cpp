#include "sim/expansion.h"

#include <gtest/gtest.h>

#include <numeric>

#include "tests/lowering/small_cluster.h"

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
    for (const Workload::Use& use : shape.uses) {
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
  // Two GPUs and one NIC a node: both groups of the 1x2 mesh load the NIC, each with its half.
  const SmallCase c({{2, 1}, {2, 1}, {2, 1}, {2, 2}, {}});
  for (const Task& task : c.graph.tasks()) {
    if (task.key.phase != Phase::kGradSync) continue;
    std::vector<double> loads[2];
    for (int group = 0; group < 2; ++group)
      for (const LinkLoad& load : c.lowering.loads(task, group))
        if (c.cluster.link(load.link).kind == LinkKind::kNic) loads[group].push_back(load.bytes);
    EXPECT_EQ(loads[0], loads[1]);
    EXPECT_EQ(loads[0].size(), 4U);  // in and out of both nodes
    // Two ranks all-reduce: each sends 2 (n-1)/n = 1 message.
    EXPECT_DOUBLE_EQ(loads[0].front(),
                     static_cast<double>(c.graph.collective(task).call.bytes.value));
  }
}

}  // namespace
}  // namespace amsp
