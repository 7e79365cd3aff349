#include <gtest/gtest.h>

#include <ostream>

#include "tests/traces/toy_step.h"
#include "traces/timeline/analysis.h"

namespace amsp {
namespace {

TEST(ToNs, RoundsToNearestWithTiesToEven) {
  EXPECT_EQ(to_ns(Seconds{0}), 0_ns);
  EXPECT_EQ(to_ns(Seconds{1.4e-9}), 1_ns);
  EXPECT_EQ(to_ns(Seconds{1.6e-9}), 2_ns);
  EXPECT_EQ(to_ns(Seconds{0.5} * 1e-9), 0_ns);
  EXPECT_EQ(to_ns(Seconds{1.5} * 1e-9), 2_ns);
  EXPECT_EQ(to_ns(Seconds{2.5} * 1e-9), 2_ns);
  EXPECT_EQ(to_ns(Seconds{86400}), 86'400'000'000'000_ns);
}

struct ClassCase {
  const char* name;
  Phase phase;
  Op op;
  const char* expected;
};
std::ostream& operator<<(std::ostream& out, const ClassCase& test) {
  return out << test.name;
}
class TrafficClass : public testing::TestWithParam<ClassCase> {};

TEST_P(TrafficClass, FollowsPhaseAndOperation) {
  TaskKey key;
  key.phase = GetParam().phase;
  key.op = GetParam().op;
  EXPECT_EQ(traffic_class(key), GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(
    , TrafficClass,
    testing::Values(ClassCase{"GatherForward", Phase::kForward, Op::kAllGather, "param_gather"},
                    ClassCase{"GatherRecompute", Phase::kRecompute, Op::kAllGather, "param_gather"},
                    ClassCase{"GatherBackward", Phase::kBackward, Op::kAllGather, "param_gather"},
                    ClassCase{"GatherUpdate", Phase::kUpdate, Op::kAllGather, "param_update"},
                    ClassCase{"Broadcast", Phase::kUpdate, Op::kBroadcast, "param_update"},
                    ClassCase{"ScatterModule", Phase::kBackward, Op::kReduceScatter,
                              "grad_scatter"},
                    ClassCase{"ScatterBucket", Phase::kGradSync, Op::kReduceScatter, "grad_reduce"},
                    ClassCase{"ReduceBucket", Phase::kGradSync, Op::kAllReduce, "grad_reduce"},
                    ClassCase{"Norm", Phase::kOptimizer, Op::kAllReduce, "grad_norm"},
                    ClassCase{"LocalNorm", Phase::kOptimizer, Op::kNorm, ""},
                    ClassCase{"Optimizer", Phase::kOptimizer, Op::kStep, ""},
                    ClassCase{"Compute", Phase::kForward, Op::kForward, ""}),
    [](const auto& test) { return test.param.name; });

std::vector<int> tasks_of(const std::vector<TraceEvent>& events) {
  std::vector<int> tasks;
  tasks.reserve(events.size());
  for (const TraceEvent& event : events) tasks.push_back(static_cast<int>(event.task));
  return tasks;
}

TEST(RankEvents, ACollectiveLastsFromReadyToTheEndOfItsGroup) {
  const TaskGraph graph = toy_graph();
  const Timeline timeline = toy_timeline(graph);
  const TraceEvent scatter = rank_events(timeline, 0).at(5);
  EXPECT_EQ(scatter.task, TaskId{8});
  EXPECT_EQ(scatter.start, 170'000_ns);
  EXPECT_EQ(scatter.end, 205'000_ns);
  EXPECT_EQ(scatter.wait, 10'000_ns);
}

TEST(RankEvents, LeavesOutMarksAndWhatIsOutsideTheWindow) {
  const TaskGraph graph = toy_graph();
  const Timeline timeline = toy_timeline(graph);
  EXPECT_EQ(tasks_of(all_events(timeline, 0)),
            (std::vector<int>{0, 1, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}));
  EXPECT_EQ(tasks_of(rank_events(timeline, 0)),
            (std::vector<int>{3, 4, 5, 6, 7, 8, 9, 10, 11, 12}));
}

TEST(RankEvents, ClockNoiseCannotMakeAStreamOverlap) {
  const TaskGraph graph = toy_graph();
  Timeline timeline = toy_timeline(graph);
  Span& attention = timeline.lane(TaskId{5}, 0);  // 100..120, after q 60..100
  attention.start = Seconds{99.5e-6};
  const TraceEvent event = all_events(timeline, 0).at(4);
  EXPECT_EQ(event.task, TaskId{5});
  EXPECT_EQ(event.start, 100'000_ns);
  EXPECT_EQ(event.end, 120'000_ns);
}

}  // namespace
}  // namespace amsp
