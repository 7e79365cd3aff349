#include "lowering/load_patterns.h"

#include <gtest/gtest.h>

#include "tests/lowering/small_cluster.h"

namespace amsp {
namespace {

void expect_patterns_stand_for_loads(const SmallCase& c) {
  const LoadPatterns patterns(c.lowering);
  int seen = 0;
  for (const Task& task : c.graph.tasks()) {
    if (task.kind != WorkKind::kCollective) continue;
    const auto& [pattern, factor] = patterns.share(task.work);
    const SubMesh& mesh = c.graph.collective(task).call.mesh;
    for (int group = 0; group < static_cast<int>(c.lowering.groups(mesh).size()); ++group) {
      const std::vector<LinkLoad> expected = c.lowering.loads(task, group);
      const std::vector<LinkLoad> found = patterns.loads(pattern, group);
      ASSERT_EQ(found.size(), expected.size());
      for (std::size_t i = 0; i < found.size(); ++i) {
        EXPECT_EQ(found[i].link, expected[i].link);
        EXPECT_NEAR(factor * found[i].bytes / expected[i].bytes, 1, 1e-12);
        ++seen;
      }
    }
  }
  EXPECT_GT(seen, 0);
}

TEST(LoadPatterns, StandForTheLoadsOfEveryWork) {
  expect_patterns_stand_for_loads(SmallCase({{2, 1}, {2, 1}, {2, 2}, {2, 4}, {}}));
}

/// NCCL runs the few bytes of the gradient norm and large buckets on one mesh differently.
TEST(LoadPatterns, TellAlgorithmsApart) {
  ClusterSpec spec = small_cluster(4);
  spec.gpu.architecture = GpuArchitecture::kHopper;
  for (const bool sharp : {false, true}) {
    spec.nccl.sharp = sharp;
    for (const char* engine : {"amsp", "deepspeed", "fsdp2"}) {
      const SmallCase c({{2, 1}, {2, 1}, {2, 4}, {2, 4}, {}}, engine_policy(engine), spec);
      expect_patterns_stand_for_loads(c);
    }
  }
  const SmallCase ddp({{1, 1}, {1, 1}, {2, 4}, {2, 4}, {}}, {}, spec);
  expect_patterns_stand_for_loads(ddp);
}

}  // namespace
}  // namespace amsp
