#include "traces/write/process_groups.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

namespace amsp {
namespace {

using testing::ElementsAre;

/// dp 2x2; streams: compute, pairs inside a node (2 groups), pairs across (2), all four (1).
TaskGraph four_ranks() {
  TaskGraph graph;
  graph.dp = {2, 2};
  graph.add_stream({"compute", {}});
  const SubMesh meshes[] = {sub_mesh({2, 1}), quotient({2, 2}, {2, 1}), sub_mesh({2, 2})};
  for (const SubMesh& mesh : meshes) {
    const StreamId stream = graph.add_stream({"on " + to_string(mesh), mesh});
    const auto work =
        graph.add_work(CollectiveWork{{CollectiveKind::kAllReduce, mesh, {}, {}}, 2, {}});
    for (int i = 0; i < 2; ++i) graph.add({{}, stream, WorkKind::kCollective, work}, {});
  }
  return graph;
}

TEST(ProcessGroups, AreNumberedByStreamThenGroup) {
  const TaskGraph graph = four_ranks();
  const ProcessGroups groups(graph);
  const ProcessGroup& inside = groups.group(TaskId{0}, 3);
  EXPECT_EQ(inside.number, 2);
  EXPECT_EQ(inside.description, "on 2x1");
  EXPECT_THAT(inside.ranks, ElementsAre(2, 3));
  const ProcessGroup& across = groups.group(TaskId{2}, 3);
  EXPECT_EQ(across.number, 4);
  EXPECT_THAT(across.ranks, ElementsAre(1, 3));
  EXPECT_EQ(groups.group(TaskId{4}, 0).number, 5);
}

TEST(ProcessGroups, ListsThoseOfTheSelectedRanks) {
  const TaskGraph graph = four_ranks();
  const ProcessGroups groups(graph);
  std::vector<std::int64_t> numbers;
  for (const ProcessGroup* group : groups.groups({0, 1})) numbers.push_back(group->number);
  EXPECT_THAT(numbers, ElementsAre(0, 1, 3, 4, 5)) << "2 is that of ranks 2 and 3";
}

TEST(ProcessGroups, SequenceCountsTheCallsOfACommunicator) {
  const TaskGraph graph = four_ranks();
  const ProcessGroups groups(graph);
  EXPECT_EQ(groups.sequence(TaskId{0}), 1);
  EXPECT_EQ(groups.sequence(TaskId{1}), 2);
  EXPECT_EQ(groups.sequence(TaskId{2}), 1);
}

TEST(ProcessGroups, RefuseACallThatIsNotOfItsStreamsMesh) {
  TaskGraph graph = four_ranks();
  const auto work =
      graph.add_work(CollectiveWork{{CollectiveKind::kAllReduce, sub_mesh({1, 1}), {}, {}}, 2, {}});
  graph.add({{}, 1, WorkKind::kCollective, work}, {});
  EXPECT_THROW(ProcessGroups{graph}, InternalError);
}

TEST(KinetoList, IsCutAfterThirtyEntries) {
  std::vector<Rank> ranks(30);
  std::iota(ranks.begin(), ranks.end(), 0);
  const std::string thirty =
      "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, "
      "25, 26, 27, 28, 29";
  EXPECT_EQ(kineto_list(ranks), thirty + "]");
  ranks.push_back(30);
  EXPECT_EQ(kineto_list(ranks), thirty + ", ...]");
  EXPECT_EQ(kineto_list({}), "[]");
}

}  // namespace
}  // namespace amsp
