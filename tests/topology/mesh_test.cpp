#include "topology/spec/mesh.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "core/error.h"

namespace amsp {
namespace {

using Groups = std::vector<std::vector<Rank>>;

TEST(ParseMesh, ReadsWhatToStringWrites) {
  for (const Mesh mesh : {Mesh{1, 1}, Mesh{8, 4}, Mesh{72, 1048576}})
    EXPECT_EQ(parse_mesh(to_string(mesh)), mesh);
  EXPECT_EQ(to_string(Mesh{8, 4}), "8x4");
}

TEST(ParseMesh, AcceptsNothingElse) {
  for (const char* text : {"",
                           "x",
                           "8",
                           "8x",
                           "x4",
                           "8 x 4",
                           "8x4 ",
                           " 8x4",
                           "0x1",
                           "1x0",
                           "-1x4",
                           "+8x4",
                           "08x4",
                           "8X4",
                           "8x4x2",
                           "8.0x4",
                           "8x4\n",
                           "2147483648x1",
                           "1x99999999999999999999",
                           "65536x65536"})
    EXPECT_EQ(parse_mesh(text), std::nullopt) << text;
}

TEST(Mesh, DividesByAxis) {
  EXPECT_TRUE(divides({4, 1}, {8, 4}));
  EXPECT_TRUE(divides({8, 4}, {8, 4}));
  EXPECT_FALSE(divides({3, 1}, {8, 4}));
  EXPECT_FALSE(divides({1, 8}, {8, 4}));  // 8 divides 32 but not the number of nodes
}

TEST(SubMesh, NamesItsStrideOnlyIfThereIsOne) {
  EXPECT_EQ(to_string(sub_mesh({4, 1})), "4x1");
  EXPECT_EQ(to_string(quotient({8, 8}, {4, 1})), "2x8/4x1");
  EXPECT_EQ(to_string(quotient({8, 8}, {1, 1})), "8x8");
  EXPECT_EQ(to_string(quotient({8, 8}, {8, 8})), "1x1/8x8");
}

TEST(SubMesh, QuotientNeedsADivisor) {
  EXPECT_THROW(quotient({8, 4}, {3, 1}), InternalError);
  EXPECT_THROW(quotient({8, 4}, {1, 8}), InternalError);
}

struct GroupCase {
  const char* name;
  SubMesh mesh;
  Mesh dp;
  Groups expected;
};
class ProcessGroups : public testing::TestWithParam<GroupCase> {};

TEST_P(ProcessGroups, MatchWhatOneDrawsByHand) {
  EXPECT_EQ(process_groups(GetParam().mesh, GetParam().dp), GetParam().expected);
}

// dp 4x2: node 0 has ranks 0 1 2 3, node 1 has 4 5 6 7
INSTANTIATE_TEST_SUITE_P(
    , ProcessGroups,
    testing::Values(
        GroupCase{"Whole", sub_mesh({4, 2}), {4, 2}, {{0, 1, 2, 3, 4, 5, 6, 7}}},
        GroupCase{"Node", sub_mesh({4, 1}), {4, 2}, {{0, 1, 2, 3}, {4, 5, 6, 7}}},
        GroupCase{"Pairs", sub_mesh({2, 1}), {4, 2}, {{0, 1}, {2, 3}, {4, 5}, {6, 7}}},
        GroupCase{"PairsOnTwoNodes", sub_mesh({2, 2}), {4, 2}, {{0, 1, 4, 5}, {2, 3, 6, 7}}},
        GroupCase{
            "AcrossNodes", quotient({4, 2}, {4, 1}), {4, 2}, {{0, 4}, {1, 5}, {2, 6}, {3, 7}}},
        // the replicas of a shard of 2x1: every other GPU, on both nodes
        GroupCase{"Strided", quotient({4, 2}, {2, 1}), {4, 2}, {{0, 2, 4, 6}, {1, 3, 5, 7}}},
        // the same inside one node only
        GroupCase{
            "StridedInNode", quotient({4, 1}, {2, 1}), {4, 2}, {{0, 2}, {1, 3}, {4, 6}, {5, 7}}},
        // every other of 4 nodes with 1 GPU each
        GroupCase{"StridedNodes", quotient({1, 4}, {1, 2}), {1, 4}, {{0, 2}, {1, 3}}},
        GroupCase{"Alone", quotient({2, 1}, {2, 1}), {2, 2}, {{0}, {1}, {2}, {3}}}),
    [](const auto& param) { return param.param.name; });

TEST(ProcessGroupsMisuse, MeshMustTileTheDataParallelMesh) {
  EXPECT_THROW(process_groups(sub_mesh({3, 1}), {8, 1}), InternalError);
  EXPECT_THROW(process_groups({{2, 1}, {8, 1}}, {8, 1}), InternalError);
  EXPECT_THROW(group_position(sub_mesh({2, 1}), {8, 1}, 8), InternalError);
  EXPECT_THROW(group_position(sub_mesh({2, 1}), {8, 1}, -1), InternalError);
}

std::vector<Mesh> divisors(Mesh mesh) {
  std::vector<Mesh> all;
  for (int intra = 1; intra <= mesh.intra; ++intra)
    for (int inter = 1; inter <= mesh.inter; ++inter)
      if (divides({intra, inter}, mesh)) all.push_back({intra, inter});
  return all;
}

/// The position of a rank inside its tile of `tile`: for a sharding mesh, the shard it holds.
Mesh offset(Rank rank, Mesh dp, Mesh tile) {
  return {rank % dp.intra % tile.intra, rank / dp.intra % tile.inter};
}
/// The tile itself.
Mesh tile_of(Rank rank, Mesh dp, Mesh tile) {
  return {rank % dp.intra / tile.intra, rank / dp.intra / tile.inter};
}

class EveryDataParallelMesh : public testing::TestWithParam<std::tuple<int, int>> {
 protected:
  Mesh dp() const { return {std::get<0>(GetParam()), std::get<1>(GetParam())}; }

  /// Calls `check(a, b, groups of a/b)` for all b | a | dp.
  template <class Check>
  void for_all_quotients(const Check& check) const {
    for (const Mesh a : divisors(dp()))
      for (const Mesh b : divisors(a)) {
        SCOPED_TRACE(to_string(quotient(a, b)) + " in " + to_string(dp()));
        check(a, b, process_groups(quotient(a, b), dp()));
      }
  }
};

TEST_P(EveryDataParallelMesh, GroupsAreDisjointCoverItAndAreOrdered) {
  for_all_quotients([&](Mesh a, Mesh b, const Groups& groups) {
    std::vector<int> times(static_cast<std::size_t>(dp().size()), 0);
    Rank last_first = -1;
    for (const std::vector<Rank>& group : groups) {
      EXPECT_EQ(static_cast<int>(group.size()), a.size() / b.size());
      EXPECT_TRUE(std::is_sorted(group.begin(), group.end()));
      EXPECT_LT(last_first, group.front());
      last_first = group.front();
      for (const Rank rank : group) ++times.at(static_cast<std::size_t>(rank));
    }
    EXPECT_EQ(times, std::vector<int>(static_cast<std::size_t>(dp().size()), 1));
  });
}

TEST_P(EveryDataParallelMesh, QuotientGroupsHoldTheSameShardInsideOneTile) {
  for_all_quotients([&](Mesh a, Mesh b, const Groups& groups) {
    for (const std::vector<Rank>& group : groups)
      for (const Rank rank : group) {
        EXPECT_EQ(offset(rank, dp(), b), offset(group.front(), dp(), b));
        EXPECT_EQ(tile_of(rank, dp(), a), tile_of(group.front(), dp(), a));
      }
  });
}

TEST_P(EveryDataParallelMesh, ShardsOfAGroupAreAllDifferent) {
  for (const Mesh a : divisors(dp()))
    for (const std::vector<Rank>& group : process_groups(sub_mesh(a), dp())) {
      std::set<Mesh> shards;
      for (const Rank rank : group) shards.insert(offset(rank, dp(), a));
      EXPECT_EQ(static_cast<int>(shards.size()), a.size());
    }
}

TEST_P(EveryDataParallelMesh, GroupPositionFindsEveryRank) {
  for_all_quotients([&](Mesh a, Mesh b, const Groups& groups) {
    for (std::size_t group = 0; group < groups.size(); ++group)
      for (std::size_t position = 0; position < groups[group].size(); ++position) {
        const GroupPosition found = group_position(quotient(a, b), dp(), groups[group][position]);
        EXPECT_EQ(found.group, static_cast<int>(group));
        EXPECT_EQ(found.position, static_cast<int>(position));
      }
  });
}

INSTANTIATE_TEST_SUITE_P(
    UpTo4x4, EveryDataParallelMesh, testing::Combine(testing::Range(1, 5), testing::Range(1, 5)),
    [](const auto& param) {
      return to_string(Mesh{std::get<0>(param.param), std::get<1>(param.param)});
    });

}  // namespace
}  // namespace amsp
