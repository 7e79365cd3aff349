// Every rank of an MPI job runs these tests, in step.
#include <gmock/gmock.h>

#include <cmath>
#include <memory>

#include "core/error.h"
#include "executor/fabric/gloo_fabric.h"
#include "executor/fabric/local_world.h"
#include "executor/fabric/mpi_world.h"
#include "executor/host/host_stream.h"
#include "scattered_message.h"

namespace amsp {
namespace {

MpiWorld* world = nullptr;
GlooFabric* fabric = nullptr;

Mesh all() {
  return {world->size(), 1};
}

TEST(MpiWorld, ExchangesTextsByRank) {
  for (const std::string round : {"a", "", "a longer text"}) {
    const auto texts = world->exchange(round + std::to_string(world->rank()));
    ASSERT_EQ(static_cast<int>(texts.size()), world->size());
    for (int rank = 0; rank < world->size(); ++rank) {
      EXPECT_EQ(texts[static_cast<std::size_t>(rank)], round + std::to_string(rank));
    }
  }
}

TEST(GlooFabric, SaysWhatItIs) {
  EXPECT_EQ(fabric->description(), "gloo 0.5 over TCP (lo)");
}

TEST(GlooFabric, RefusesAnInterfaceThatDoesNotExist) {
  try {
    GlooFabric wrong(*world, {"no-such-if"});
    FAIL() << "nothing was thrown";
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), testing::StartsWith("network interface 'no-such-if' doesn't exist on "
                                                  "the host of rank " +
                                                  std::to_string(world->rank()) + "; there are "));
  }
}

class GlooCollectives : public testing::TestWithParam<DType> {};

TEST_P(GlooCollectives, GiveTheSerialResult) {
  expect_right_collectives(*fabric->open(sub_mesh(all()), all()), GetParam());
}

// The threads of one process stand in for the other ranks.
TEST_P(GlooCollectives, GiveTheBitsOfTheLocalFabric) {
  if (GetParam() == DType::kI32) GTEST_SKIP() << "no sums of int32";
  const auto mine = random_reductions(*fabric->open(sub_mesh(all()), all()), GetParam());
  run_local(world->size(), [&](World& local, Fabric& threads) {
    const auto theirs = random_reductions(*threads.open(sub_mesh(all()), all()), GetParam());
    if (local.rank() == world->rank()) {
      EXPECT_EQ(mine, theirs);
    }
  });
}

INSTANTIATE_TEST_SUITE_P(All, GlooCollectives,
                         testing::Values(DType::kF64, DType::kF32, DType::kBf16, DType::kI32),
                         [](const auto& one) { return to_string(one.param); });

TEST(GlooFabric, CommunicatorsRunSideBySide) {
  if (world->size() != 4) GTEST_SKIP() << "needs 4 ranks";
  expect_independent_communicators(*fabric);
}

}  // namespace
}  // namespace amsp

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  amsp::MpiWorld world(std::chrono::seconds(60));
  amsp::GlooFabric fabric(world, {"", std::chrono::seconds(60)});
  amsp::world = &world;
  amsp::fabric = &fabric;
  return RUN_ALL_TESTS();
}
