#include <gtest/gtest.h>

#include <ostream>

#include "core/error.h"
#include "scenario/readers.h"

namespace amsp {
namespace {

struct Division {
  const char* name;
  int micro_batch;
  std::int64_t global_batch;
  Mesh dp;
  int micro_batches;  // 0: refused
  const char* message;
};
void PrintTo(const Division& test, std::ostream* out) {
  *out << test.name;
}
class DivideGlobalBatch : public testing::TestWithParam<Division> {};

TEST_P(DivideGlobalBatch, GivesMicroBatchesOrSaysWhatWould) {
  const Division& test = GetParam();
  TrainingSpec training;
  training.micro_batch = test.micro_batch;
  training.micro_batches = 0;
  std::string message;
  try {
    divide_global_batch(training, test.global_batch, test.dp, "here");
  } catch (const InfeasibleError& error) {
    message = error.what();
  }
  EXPECT_EQ(training.micro_batches, test.micro_batches);
  EXPECT_EQ(message, test.message);
}

INSTANTIATE_TEST_SUITE_P(
    , DivideGlobalBatch,
    testing::Values(
        Division{"OneEach", 1, 1024, {8, 128}, 1, ""},  // 1024 / (1 * 1024)
        Division{"ManyEach", 2, 1024, {8, 1}, 64, ""},  // 1024 / (2 * 8)
        // 96 / 8 = 12 sequences a GPU: 1, 2, 3, 4, 6 or 12 at once; 80 = 2 * 40, 120 = 3 * 40
        Division{"OtherMicroBatch",
                 5,
                 96,
                 {8, 1},
                 0,
                 "here: 96 sequences don't divide into micro-batches of 5 on 8 GPUs (dp 8x1); "
                 "global batches that do: 80 or 120; micro-batches that do: 1, 2, 3, 4, 6, 12"},
        // 100 / 8 is no whole number, so no micro-batch helps; 96 = 12 * 8, 104 = 13 * 8
        Division{"OtherGlobalBatch",
                 1,
                 100,
                 {8, 1},
                 0,
                 "here: 100 sequences don't divide into micro-batches of 1 on 8 GPUs (dp 8x1); "
                 "global batches that do: 96 or 104; micro-batches that do: none"},
        // below 64 there is only 0
        Division{"FewerThanGpus",
                 1,
                 32,
                 {8, 8},
                 0,
                 "here: 32 sequences don't divide into micro-batches of 1 on 64 GPUs (dp 8x8); "
                 "global batches that do: 64; micro-batches that do: none"},
        // 5760 has 42 divisors: the eight nearest to 7 by ratio are these, from 7 / 1.75 to 7
        // * 2.14
        Division{"EightNearest",
                 7,
                 5760,
                 {1, 1},
                 0,
                 "here: 5760 sequences don't divide into micro-batches of 7 on 1 GPUs (dp 1x1); "
                 "global batches that do: 5754 or 5761; micro-batches that do: "
                 "4, 5, 6, 8, 9, 10, 12, 15"}),
    [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace amsp
