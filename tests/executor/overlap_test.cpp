// That communication runs beside computation: on a network that takes time and no processor.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>

#include "executor/fabric/paced_fabric.h"
#include "local_ranks.h"
#include "parity.h"

namespace amsp {
namespace {

/// How much of span `a` lies in `b`.
double shared(const Span& a, const Span& b) {
  const double time = std::min(a.end, b.end).value - std::max(a.start, b.start).value;
  return std::max(0.0, time) / (a.end - a.start).value;
}

/// The largest part of a reduce-scatter that lies beside one later compute task of the backward of
/// the same rank; of all ranks the least.
double overlap(bool overlapping) {
  Scenario scenario = tiny_scenario({4, 1}, 8, "zero3", 1);
  ModelSpec& model = scenario.model;
  model.hidden = 128;
  model.layers = 3;
  model.heads = model.kv_heads = 4;
  model.head_dim = 32;
  model.ffn = 512;
  scenario.training.sequence_length = 256;
  scenario.training.micro_batch = 2;
  scenario.engine.overlap_gather = overlapping;
  // A message takes 3 ms however small, less than the large products beside it: on a busier
  // machine those take longer still.
  const Pace pace{BytesPerSec{1e12}, Seconds{0.003}};
  ExecutionOptions options;
  options.steps = 4;
  options.warm_up = 1;
  double least = 1;
  LocalRun how;
  how.over = [&](World& world, Fabric& threads) {
    return std::make_unique<PacedFabric>(world, threads, PaceOptions{pace, pace});
  };
  how.look = [&](Rank rank, const Executor& executor) {
    const Timeline& timeline = executor.timeline();
    const TaskGraph& graph = timeline.graph();
    double most = 0;
    for (int i = 0; i < graph.size(); ++i) {
      const auto scatter = static_cast<TaskId>(i);
      if (graph[scatter].key.op != Op::kReduceScatter) continue;
      EXPECT_GE((timeline.span(scatter, rank).end - timeline.span(scatter, rank).start).value,
                0.9 * pace.latency.value);
      for (int j = i + 1; j < graph.size(); ++j) {
        const auto later = static_cast<TaskId>(j);
        if (graph[later].kind == WorkKind::kCompute && graph[later].key.phase == Phase::kBackward)
          most = std::max(most, shared(timeline.span(scatter, rank), timeline.span(later, rank)));
      }
    }
    least = std::min(least, most);
  };
  run_local_ranks(scenario, options, how);
  return least;
}

TEST(Overlap, ReduceScattersRunBesideTheBackward) {
  const double part = overlap(true);
  std::printf("%.0f %% of a reduce-scatter beside one product\n", 100 * part);
  EXPECT_GT(part, 0.2);  // nearly all of it on an idle machine
}

TEST(Overlap, NothingRunsBesideThemWithoutOverlap) {
  EXPECT_EQ(overlap(false), 0);
}

}  // namespace
}  // namespace amsp
