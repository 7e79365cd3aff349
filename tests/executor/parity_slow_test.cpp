#include <gtest/gtest.h>

#include "local_parity.h"

namespace amsp {
namespace {

TEST(ParitySlow, EveryPlanOnFourRanks) {
  for (const Mesh dp : {Mesh{4, 1}, Mesh{2, 2}, Mesh{1, 4}})
    expect_fp64_parity(parity_cases(dp, 8, {1, 2, 4}));
}
TEST(ParitySlow, EveryPlanOnEightRanksOfANode) {
  expect_fp64_parity(parity_cases({8, 1}, 8, {1, 2, 4}));
}
TEST(ParitySlow, EveryPlanOnTwoNodesOfFour) {
  expect_fp64_parity(parity_cases({4, 2}, 8, {1, 2, 4}));
}
TEST(ParitySlow, EveryPlanOnFourNodesOfTwo) {
  expect_fp64_parity(parity_cases({2, 4}, 8, {1, 2, 4}));
}

}  // namespace
}  // namespace amsp
