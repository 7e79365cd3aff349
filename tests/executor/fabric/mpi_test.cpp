// Every rank of an MPI job runs these tests, in step.
#include <gmock/gmock.h>

#include <chrono>
#include <vector>

#include "core/error.h"
#include "executor/fabric/local_world.h"
#include "executor/fabric/mpi_world.h"
#include "executor/fabric/paced_fabric.h"
#include "executor/fabric/socket_fabric.h"
#include "executor/host/host_stream.h"
#include "scattered_message.h"

namespace amsp {
namespace {

MpiWorld* world = nullptr;
SocketFabric* fabric = nullptr;

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

TEST(SocketFabric, SaysWhatItIs) {
  EXPECT_EQ(fabric->description(), "sockets of one machine");
}

TEST(SocketFabric, RefusesAnInterfaceThatDoesNotExist) {
  try {
    SocketFabric wrong(*world, {"no-such-if"});
    FAIL() << "nothing was thrown";
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), testing::StartsWith("network interface 'no-such-if' doesn't exist on "
                                                  "the host of rank " +
                                                  std::to_string(world->rank()) + "; there are "));
  }
}

std::string name_of(const testing::TestParamInfo<DType>& one) {
  return to_string(one.param);
}

class SocketCollectives : public testing::TestWithParam<DType> {};

TEST_P(SocketCollectives, GiveTheSerialResult) {
  expect_right_collectives(*fabric->open(sub_mesh(all()), all()), GetParam());
}

INSTANTIATE_TEST_SUITE_P(All, SocketCollectives,
                         testing::Values(DType::kF64, DType::kF32, DType::kBf16, DType::kI32),
                         name_of);

class SocketSums : public testing::TestWithParam<DType> {};

// The threads of one process stand in for the other ranks.
TEST_P(SocketSums, HaveTheBitsOfTheLocalFabric) {
  const auto mine = random_reductions(*fabric->open(sub_mesh(all()), all()), GetParam());
  run_local(world->size(), [&](World& local, Fabric& threads) {
    const auto theirs = random_reductions(*threads.open(sub_mesh(all()), all()), GetParam());
    if (local.rank() == world->rank()) {
      EXPECT_EQ(mine, theirs);
    }
  });
}

INSTANTIATE_TEST_SUITE_P(All, SocketSums, testing::Values(DType::kF64, DType::kF32, DType::kBf16),
                         name_of);

TEST(SocketFabric, IsPacedAsWell) {
  const Pace pace{BytesPerSec{100e6}, Seconds{0.001}};
  PacedFabric paced(*world, *fabric, {pace, pace});
  HostStream stream("paced");
  const auto communicator = paced.open(sub_mesh(all()), all());
  std::vector<float> data(250'000);
  Message message{CollectiveKind::kAllReduce, DType::kF32, {}};
  message.parts.resize(static_cast<std::size_t>(world->size()));
  message.parts[0] = {{data.data(), static_cast<std::int64_t>(data.size())}};
  for (int i = 0; i < 3; ++i) {
    const auto start = std::chrono::steady_clock::now();
    communicator->enqueue(stream, message);
    stream.synchronize();
    // Never before its time; how much later depends on who else uses the machine.
    const double n = world->size();
    EXPECT_GE(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(),
              0.001 + 2 * (n - 1) / n * 1e6 / 100e6);
  }
  EXPECT_EQ(paced.report().collectives, 3);
}

TEST(SocketFabric, CommunicatorsRunSideBySide) {
  if (world->size() != 4) GTEST_SKIP() << "needs 4 ranks";
  expect_independent_communicators(*fabric);
}

}  // namespace
}  // namespace amsp

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  amsp::MpiWorld world(std::chrono::seconds(60));
  amsp::SocketFabric fabric(world, {"", std::chrono::seconds(60)});
  amsp::world = &world;
  amsp::fabric = &fabric;
  return RUN_ALL_TESTS();
}
