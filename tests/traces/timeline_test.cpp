#include "traces/timeline/timeline.h"

#include <gtest/gtest.h>

#include <memory>

#include "tests/traces/toy_step.h"

namespace amsp {
namespace {

constexpr double kUs = 1e-6;

TEST(Timeline, ReadyIsTheEndOfTheLastDependency) {
  const TaskGraph graph = toy_graph();
  const Timeline timeline = toy_timeline(graph);
  EXPECT_EQ(timeline.ready(TaskId{0}, 0).value, 0) << "nothing before it";
  EXPECT_NEAR(timeline.ready(TaskId{8}, 0).value, 170 * kUs, 1e-15);   // wgrad of rank 0
  EXPECT_NEAR(timeline.ready(TaskId{8}, 1).value, 180 * kUs, 1e-15);   // wgrad of rank 1
  EXPECT_NEAR(timeline.ready(TaskId{9}, 1).value, 180 * kUs, 1e-15);   // by the stream's order
  EXPECT_NEAR(timeline.ready(TaskId{11}, 0).value, 220 * kUs, 1e-15);  // all-reduce after dgrad
}

TEST(Timeline, WindowIsFromMarkToMark) {
  const TaskGraph graph = toy_graph();
  const Timeline timeline = toy_timeline(graph);
  EXPECT_NEAR(timeline.window_begin(1).value, 50 * kUs, 1e-15);
  EXPECT_NEAR(timeline.window_end(0).value, 270 * kUs, 1e-15);
  EXPECT_NEAR(timeline.step_time().value, 220 * kUs, 1e-15);
}

TEST(Timeline, StepTimeIsBetweenTheLatestMarks) {
  TaskGraph graph;
  graph.dp = {2, 1};
  graph.add_stream({"compute", {}});
  graph.window_begin = graph.add({}, {});
  graph.window_end = graph.add({}, {});
  const auto lanes = std::make_shared<LaneMap>(LaneMap{0, 1});
  Timeline timeline(graph);
  timeline.add_task(lanes, 2);
  timeline.add_task(lanes, 2);
  timeline.lane(graph.window_begin, 0) = {Seconds{1}, Seconds{1}};
  timeline.lane(graph.window_begin, 1) = {Seconds{3}, Seconds{3}};
  timeline.lane(graph.window_end, 0) = {Seconds{9}, Seconds{9}};
  timeline.lane(graph.window_end, 1) = {Seconds{8}, Seconds{8}};
  EXPECT_EQ(timeline.step_time().value, 9 - 3);
}

TEST(Timeline, RanksShareLanes) {
  const TaskGraph graph = toy_graph();
  Timeline timeline(graph);
  timeline.add_task(std::make_shared<LaneMap>(LaneMap{1, 1}), 2);
  timeline.lane(TaskId{0}, 1) = {Seconds{1}, Seconds{2}};
  EXPECT_EQ(timeline.lane_count(TaskId{0}), 2);
  EXPECT_EQ(timeline.span(TaskId{0}, 0).end.value, 2);
  EXPECT_EQ(&timeline.span(TaskId{0}, 0), &timeline.span(TaskId{0}, 1));
}

TEST(Timeline, RanksAreAlikeIfTheyShareTheLanesOfAllTasks) {
  TaskGraph graph;
  graph.dp = {4, 1};
  graph.add_stream({"compute", {}});
  graph.add({}, {});
  graph.add({}, {});
  Timeline timeline(graph);
  timeline.add_task(std::make_shared<LaneMap>(LaneMap{0, 0, 0, 1}), 2);
  timeline.add_task(std::make_shared<LaneMap>(LaneMap{1, 0, 1, 1}), 2);
  EXPECT_EQ(timeline.first_alike(), (std::vector<Rank>{0, 1, 0, 3}));
}

TEST(Timeline, RefusesWhatDoesNotFit) {
  const TaskGraph graph = toy_graph();
  Timeline timeline(graph);
  EXPECT_THROW(timeline.add_task(std::make_shared<LaneMap>(LaneMap{0}), 1), InternalError)
      << "a lane map of one rank for two";
  EXPECT_THROW(timeline.add_task(std::make_shared<LaneMap>(LaneMap{0, 0}), 0), InternalError);
  EXPECT_THROW(timeline.span(TaskId{0}, 0), InternalError) << "not yet added";
  timeline.add_task(std::make_shared<LaneMap>(LaneMap{0, 5}), 1);
  EXPECT_THROW(timeline.span(TaskId{0}, 1), InternalError) << "lane 5 of 1";
  EXPECT_THROW(timeline.span(TaskId{0}, 2), InternalError) << "rank 2 of 2";
  EXPECT_THROW(timeline.lane(TaskId{0}, 1), InternalError);
}

}  // namespace
}  // namespace amsp
