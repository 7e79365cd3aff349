#include <gtest/gtest.h>

#include <memory>

#include "tests/traces/toy_step.h"
#include "traces/timeline/analysis.h"

namespace amsp {
namespace {

constexpr Nanoseconds kUs = 1000_ns;

std::string text(const std::vector<PathSegment>& path) {
  std::string lines;
  for (const PathSegment& segment : path)
    lines += fmt::format("{}..{} task {} rank {} {}\n", segment.start.value, segment.end.value,
                         static_cast<int>(segment.task), segment.rank, segment.kind);
  return lines;
}

TEST(CriticalPath, JumpsToTheMemberThatIsLate) {
  const TaskGraph graph = toy_graph();
  EXPECT_EQ(text(critical_path(toy_timeline(graph))),
            "50000..60000 task 3 rank 1 param_gather\n"
            "60000..110000 task 4 rank 1 compute\n"
            "110000..130000 task 5 rank 1 compute\n"
            "130000..160000 task 6 rank 1 compute\n"
            "160000..180000 task 7 rank 1 compute\n"
            "180000..205000 task 8 rank 0 grad_scatter\n"
            "205000..220000 task 10 rank 0 grad_reduce\n"
            "220000..250000 task 11 rank 0 compute\n"
            "250000..270000 task 12 rank 0 param_update\n");
}

TEST(CriticalPath, SumsByKind) {
  const TaskGraph graph = toy_graph();
  EXPECT_EQ(path_by_kind(critical_path(toy_timeline(graph))),
            (std::map<std::string, Nanoseconds>{{"compute", 150 * kUs},
                                                {"param_gather", 10 * kUs},
                                                {"grad_scatter", 25 * kUs},
                                                {"grad_reduce", 15 * kUs},
                                                {"param_update", 20 * kUs}}));
}

TEST(CriticalPath, NamesGapsIdle) {
  TaskGraph graph;
  graph.dp = {1, 1};
  graph.add_stream({"compute", {}});
  const auto work = graph.add_work(ComputeWork{});
  graph.window_begin = graph.add({}, {});
  const TaskId task = graph.add({{}, kComputeStream, WorkKind::kCompute, work}, {});
  graph.window_end = graph.add({}, {});
  Timeline timeline(graph);
  const auto lanes = std::make_shared<LaneMap>(LaneMap{0});
  for (int i = 0; i < 3; ++i) timeline.add_task(lanes, 1);
  timeline.lane(task, 0) = {Seconds{2e-6}, Seconds{5e-6}};
  timeline.lane(graph.window_end, 0) = {Seconds{6e-6}, Seconds{6e-6}};
  EXPECT_EQ(text(critical_path(timeline)),
            "0..2000 task -1 rank 0 idle\n"
            "2000..5000 task 1 rank 0 compute\n"
            "5000..6000 task -1 rank 0 idle\n");
}

class RandomPath : public testing::TestWithParam<std::uint32_t> {};

TEST_P(RandomPath, TilesTheWindowExactly) {
  const TaskGraph graph = random_graph(GetParam(), 80);
  const Timeline timeline = play_randomly(graph, GetParam());
  Nanoseconds begin;
  Nanoseconds end;
  for (Rank rank = 0; rank < timeline.ranks(); ++rank) {
    begin = std::max(begin, to_ns(timeline.window_begin(rank)));
    end = std::max(end, to_ns(timeline.window_end(rank)));
  }
  Nanoseconds now = begin;
  for (const PathSegment& segment : critical_path(timeline)) {
    EXPECT_EQ(segment.start, now);
    EXPECT_LT(segment.start, segment.end);
    if (segment.task == TaskId{-1}) {
      EXPECT_EQ(segment.kind, "idle");
    } else {
      const Span& span = timeline.span(segment.task, segment.rank);
      EXPECT_EQ(segment.end, to_ns(span.end)) << "a task is on the path to its very end";
      EXPECT_EQ(segment.start, std::max(begin, to_ns(span.start)));
    }
    now = segment.end;
  }
  EXPECT_EQ(now, std::max(begin, end));
}

TEST_P(RandomPath, IsTheReasonForTheStepTime) {
  // no gaps, whole nanoseconds: adding to a task on the path delays the end by as much
  const TaskGraph graph = random_graph(GetParam(), 80);
  std::vector<double> extra(static_cast<std::size_t>(graph.size()));
  const auto duration = [&](TaskId id, Rank rank) {
    return Seconds{
        (static_cast<double>((index(id) * 37 + static_cast<std::size_t>(rank) * 11) % 97) +
         extra[index(id)]) *
        1e-9};
  };
  const auto latest_end = [&] {
    const Timeline timeline = play(graph, duration);
    Nanoseconds latest;
    for (Rank rank = 0; rank < timeline.ranks(); ++rank)
      latest = std::max(latest, to_ns(timeline.window_end(rank)));
    return latest;
  };
  const Nanoseconds before = latest_end();
  for (const PathSegment& segment : critical_path(play(graph, duration))) {
    ASSERT_NE(segment.kind, "idle");
    extra[index(segment.task)] = 1000;
    EXPECT_GE(latest_end(), before + 1000_ns) << graph.key(segment.task);
    extra[index(segment.task)] = 0;
  }
}

INSTANTIATE_TEST_SUITE_P(, RandomPath, testing::Range(0U, 20U));

}  // namespace
}  // namespace amsp
