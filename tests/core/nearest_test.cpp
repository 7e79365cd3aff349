#include "core/nearest.h"

#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <vector>

namespace amsp {
namespace {

struct NearestCase {
  const char* name;
  std::string word;
  std::vector<std::string> candidates;
  std::optional<std::string> expected;
};

std::ostream& operator<<(std::ostream& out, const NearestCase& tested) {
  return out << tested.name;
}

class Nearest : public testing::TestWithParam<NearestCase> {};

TEST_P(Nearest, MatchesHandCount) {
  const NearestCase& c = GetParam();
  EXPECT_EQ(nearest(c.word, c.candidates), c.expected);
}

INSTANTIATE_TEST_SUITE_P(
    , Nearest,
    testing::Values(
        NearestCase{"Nothing", "abc", {}, {}}, NearestCase{"Itself", "abc", {"xyz", "abc"}, "abc"},
        // one insertion, one deletion, one replacement, one swap: distance 1, limit ceil(3/3) = 1
        NearestCase{"Insert", "ful", {"none", "full"}, "full"},
        NearestCase{"Delete", "abcd", {"abc"}, "abc"},
        NearestCase{"Replace", "axc", {"abc"}, "abc"}, NearestCase{"Swap", "acb", {"abc"}, "abc"},
        // two replacements in three characters are too many, in four too: ceil(4/3) = 2 allows them
        NearestCase{"TwoOfThree", "xyc", {"abc"}, {}},
        NearestCase{"TwoOfFour", "xycd", {"abcd"}, "abcd"},
        NearestCase{"ThreeOfSix", "xyzdef", {"abcdef"}, {}},
        NearestCase{"ThreeOfSeven", "xyzdefg", {"abcdefg"}, "abcdefg"},
        // the longer of the two counts: 2 insertions into 5 make 7, ceil(7/3) = 3
        NearestCase{"LongerLength", "nodes", {"nodes_2"}, "nodes_2"},
        // a swap is one edit, not two: "abdc" is 1 from "abcd" but 2 from "abxy"
        NearestCase{"SwapBeatsTwoReplacements", "abdc", {"abxy", "abcd"}, "abcd"},
        // optimal string alignment: "ca" -> "abc" is 3 (no edit inside a swapped pair), limit 1
        NearestCase{"NoEditInsideASwap", "ca", {"abc"}, {}},
        NearestCase{"CaseIsIgnored", "NODES", {"node", "nodes"}, "nodes"},
        NearestCase{"CandidateKeepsItsCase", "gibps", {"GiBps"}, "GiBps"},
        NearestCase{"SmallestWins", "bandwith", {"bandwidths", "bandwidth"}, "bandwidth"},
        NearestCase{"TiesGoToTheFirst", "cat", {"bat", "rat", "hat"}, "bat"},
        NearestCase{"EmptyWord", "", {"abc"}, {}}, NearestCase{"EmptyCandidate", "abc", {""}, {}}),
    [](const auto& tested) { return tested.param.name; });

TEST(Join, PutsTheSeparatorBetween) {
  EXPECT_EQ(join({}), "");
  EXPECT_EQ(join({"a"}), "a");
  EXPECT_EQ(join({"a", "b", "c"}), "a, b, c");
  EXPECT_EQ(join({"a", "", "c"}, "/"), "a//c");
}

}  // namespace
}  // namespace amsp
