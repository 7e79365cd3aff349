// Folded against full over generated cases: plans, shapes, fabrics, overlap modes.
#include "tests/sim/fold_cases.h"

namespace amsp {
namespace {

constexpr int kCasesOfABatch = 20;

class FoldedEqualsFull : public testing::TestWithParam<int> {};

TEST_P(FoldedEqualsFull, OnEveryTaskOfEveryRank) {
  FoldCases cases(static_cast<std::uint32_t>(GetParam()));
  FoldCounts sum;
  for (int i = 0; i < kCasesOfABatch; ++i) {
    const FoldCounts counts = expect_folded_equals_full(cases.next());
    sum.full += counts.full;
    sum.folded += counts.folded;
  }
  fmt::print("{} of {} activities\n", sum.folded, sum.full);
}

INSTANTIATE_TEST_SUITE_P(Seed, FoldedEqualsFull, testing::Range(100, 200));

}  // namespace
}  // namespace amsp
