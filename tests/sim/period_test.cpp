// Micro-batches that repeat are skipped: the same times as when all are played.
#include "sim/period.h"

#include <gtest/gtest.h>

#include "tests/lowering/small_cluster.h"
#include "tests/sim/fold_cases.h"

namespace amsp {
namespace {

class SkippedEqualsFull : public testing::TestWithParam<int> {};

TEST_P(SkippedEqualsFull, OnGeneratedCases) {
  FoldCases cases(static_cast<std::uint32_t>(GetParam()));
  int skipped = 0, alike = 0;
  for (int i = 0; i < 3; ++i) {
    FoldCase c = cases.next();
    c.training.micro_batches = 12 + 5 * i;
    const FoldCounts counts = expect_folded_equals_full(c);
    // With slow GPUs or links groups drift apart, and there need not be a period.
    if (!c.conditions.slow_gpus.empty() || !c.conditions.links.empty()) continue;
    ++alike;
    skipped += counts.batches_played < c.training.micro_batches;
  }
  // Where communicators wait for each other, a period may be longer than what is looked for.
  EXPECT_GE(skipped, alike - 2);
}

INSTANTIATE_TEST_SUITE_P(Seed, SkippedEqualsFull, testing::Range(1000, 1010));

SmallCase small_case(int micro_batches) {
  TrainingSpec training = small_training();
  training.micro_batches = micro_batches;
  return SmallCase({{2, 1}, {2, 1}, {2, 1}, {2, 2}, {}}, {}, training);
}

TEST(Repetition, AllButTheFirstAndTheLastMicroBatchesAreCopies) {
  const SmallCase c = small_case(9);
  const Repetition repetition(c.graph);
  EXPECT_EQ(repetition.batches(), 9);
  EXPECT_EQ(repetition.first(), 2);  // the first has no one before it to prefetch its parameters
  EXPECT_GE(repetition.last(), 7);
  for (const TaskId id : repetition.tasks(4)) {
    const TaskId other = repetition.in_batch(id, 6);
    EXPECT_EQ(repetition.batch(other), 6);
    EXPECT_EQ(c.graph[id].work, c.graph[other].work);
  }
}

TEST(Repetition, ASingleMicroBatchDoesNotRepeat) {
  const SmallCase c = small_case(1);
  const Repetition repetition(c.graph);
  EXPECT_GT(repetition.first(), repetition.last());
}

TEST(Repetition, AnOddOneOutEndsTheRow) {
  // Ten micro-batches of one task each; the fourth does something else.
  TaskGraph graph;
  graph.dp = {1, 1};
  const StreamId compute = graph.add_stream({"compute", {}});
  const std::int32_t usual = graph.add_work(ComputeWork{}), odd = graph.add_work(ComputeWork{});
  for (int batch = 0; batch < 10; ++batch)
    graph.add({{1, batch}, compute, WorkKind::kCompute, batch == 3 ? odd : usual}, {});
  const Repetition repetition(graph);
  EXPECT_EQ(repetition.first(), 5);
  EXPECT_EQ(repetition.last(), 9);
}

TEST(Repetition, WhoWaitsForOneInTheMiddlePreventsSkipping) {
  TaskGraph graph;
  graph.dp = {1, 1};
  const StreamId compute = graph.add_stream({"compute", {}});
  const StreamId other = graph.add_stream({"other", {}});
  const std::int32_t work = graph.add_work(ComputeWork{});
  std::vector<TaskId> tasks;
  for (int batch = 0; batch < 10; ++batch)
    tasks.push_back(graph.add({{1, batch}, compute, WorkKind::kCompute, work}, {}));
  EXPECT_EQ(Repetition(graph).last(), 9);
  graph.add({{1, -1}, other, WorkKind::kCompute, work}, std::vector<TaskId>{tasks[5]});
  EXPECT_GT(Repetition(graph).first(), Repetition(graph).last());
}

TEST(Simulator, PlaysAFewOfManyMicroBatches) {
  const SmallCase c = small_case(64);
  const Playback folded = simulate(c.lowering), full = simulate_every_rank(c.lowering);
  EXPECT_LE(folded.batches_played, 12);
  EXPECT_TRUE(same_time(folded.timeline.step_time(), full.timeline.step_time()));
  EXPECT_EQ(full.batches_played, 64);
}

TEST(Simulator, EveryFurtherMicroBatchTakesOnePeriod) {
  double step[3];
  for (const int i : {0, 1, 2}) {
    const SmallCase c = small_case(20 + 10 * i);
    step[i] = simulate(c.lowering).timeline.step_time().value;
  }
  EXPECT_NEAR(step[2] - step[1], step[1] - step[0], 1e-9 * step[2]);
}

}  // namespace
}  // namespace amsp
