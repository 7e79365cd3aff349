#include <gtest/gtest.h>

#include "local_parity.h"

namespace amsp {
namespace {

TEST(ParitySlow, EveryPlanOnFourRanks) {
  for (const Mesh dp : {Mesh{4, 1}, Mesh{2, 2}, Mesh{1, 4}})
    expect_fp64_parity(parity_cases(dp, 8, {1, 2, 4}));
}
TEST(ParitySlow, EveryPlanOnEightRanks) {
  for (const Mesh dp : {Mesh{8, 1}, Mesh{4, 2}, Mesh{2, 4}})
    expect_fp64_parity(parity_cases(dp, 8, {1, 2, 4}));
}

}  // namespace
}  // namespace amsp
