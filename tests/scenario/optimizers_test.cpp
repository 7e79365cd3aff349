#include "training/optimizers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"

namespace amsp {
namespace {

TEST(Optimizers, AreListedAdamFirst) {
  EXPECT_THAT(optimizer_names(), testing::ElementsAre("adam", "adam8bit", "lion", "adafactor"));
}

TEST(Optimizers, KeepAndMoveWhatTheirSourceCounts) {
  // master read and written + moments read and written + gradient read + bf16 copy written
  EXPECT_EQ(optimizer("adam").traffic_bytes, 2 * 4 + 2 * (4 + 4) + 2 + 2);
  EXPECT_EQ(optimizer("adam8bit").traffic_bytes, 2 * 4 + 2 * (1 + 1) + 2 + 2);
  EXPECT_EQ(optimizer("lion").traffic_bytes, 2 * 4 + 2 * 4 + 2 + 2);
  // three passes over the gradient
  EXPECT_EQ(optimizer("adafactor").traffic_bytes, 2 * 4 + 3 * 2 + 2);

  EXPECT_EQ(optimizer("adam").state_bytes, 4 + 4 + 4);
  EXPECT_EQ(optimizer("adam8bit").state_bytes, 4 + 1 + 1);
  EXPECT_EQ(optimizer("lion").state_bytes, 4 + 4);
  EXPECT_EQ(optimizer("adafactor").state_bytes, 4);
}

TEST(Optimizers, HaveASource) {
  for (const std::string& name : optimizer_names()) {
    EXPECT_EQ(optimizer(name).name, name);
    EXPECT_FALSE(optimizer(name).source.empty()) << name;
  }
}

TEST(Optimizers, KnowNoOther) {
  EXPECT_THROW(optimizer("sgd"), InternalError);
}

}  // namespace
}  // namespace amsp
