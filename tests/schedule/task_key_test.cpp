#include "schedule/task_key.h"

#include <gtest/gtest.h>

namespace amsp {
namespace {

TEST(TaskKey, FollowsItsGrammar) {
  const SubMesh mesh = quotient({8, 8}, {4, 1});
  EXPECT_EQ(to_string(TaskKey{1, 0, Phase::kForward, 4, Module::kQ, -1, Op::kForward}, 32),
            "s1/mb0/fwd/L3/q/forward");
  EXPECT_EQ(
      to_string(TaskKey{1, 2, Phase::kGradSync, -1, Module::kNone, 2, Op::kAllReduce}, 32, &mesh),
      "s1/mb2/grad_sync/-/bucket2/all_reduce@2x8/4x1");
  EXPECT_EQ(to_string(TaskKey{0, -1, Phase::kUpdate, 33, Module::kNone, -1, Op::kBroadcast}, 32),
            "s0/-/update/head/params/broadcast");
  EXPECT_EQ(to_string(TaskKey{0, -1, Phase::kOptimizer, -1, Module::kNone, -1, Op::kStep}, 32),
            "s0/-/opt/-/-/step");
}

TEST(TaskKey, ReadsBack) {
  const auto key = parse_task_key("s1/mb2/grad_sync/-/bucket2/all_reduce@2x8/4x1");
  ASSERT_TRUE(key);
  EXPECT_EQ(key->step, 1);
  EXPECT_EQ(key->micro_batch, 2);
  EXPECT_EQ(key->phase, "grad_sync");
  EXPECT_EQ(key->layer, "-");
  EXPECT_EQ(key->module, "bucket2");
  EXPECT_EQ(key->op, "all_reduce");
  EXPECT_EQ(key->mesh, "2x8/4x1");
}

TEST(TaskKey, RefusesWhatIsNotOfTheGrammar) {
  for (const char* text :
       {"", "s1", "s1/mb0/fwd/L3/q", "x1/mb0/fwd/L3/q/forward", "s1/m0/fwd/L3/q/forward",
        "s1/mb0/fwd/X3/q/forward", "s1/mb0/fwd/L3/q/forward/x", "s1/mb0//L3/q/forward",
        "s1/mb0/fwd/L3/q/forward@", "s-1/mb0/fwd/L3/q/forward", "s1/mb0/fwd/L3x/q/forward"})
    EXPECT_FALSE(parse_task_key(text)) << text;
}

}  // namespace
}  // namespace amsp
