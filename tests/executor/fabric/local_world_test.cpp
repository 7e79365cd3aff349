#include "executor/fabric/local_world.h"

#include <gmock/gmock.h>

#include <atomic>
#include <chrono>

#include "core/error.h"
#include "executor/host/host_stream.h"

namespace amsp {
namespace {

using testing::ElementsAre;

constexpr Mesh kFour{4, 1};

/// An all-reduce of one number.
void reduce(Communicator& communicator, Stream& stream, double& value) {
  Message message{CollectiveKind::kAllReduce, DType::kF64, {}};
  message.parts.resize(static_cast<std::size_t>(communicator.size()));
  message.parts[0] = {{&value, 1}};
  communicator.enqueue(stream, message);
}

/// What `function` throws.
template <typename Error>
std::string message_of(const std::function<void()>& function) {
  try {
    function();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST(LocalWorld, ExchangesTextsByRank) {
  run_local(3, [](World& world, Fabric&) {
    for (const char* round : {"a", "b", "c"}) {
      EXPECT_THAT(world.exchange(round + std::to_string(world.rank())),
                  ElementsAre(round + std::string("0"), round + std::string("1"),
                              round + std::string("2")));
    }
  });
}

TEST(LocalWorld, OneRankIsAWorld) {
  run_local(1, [](World& world, Fabric& fabric) {
    EXPECT_THAT(world.exchange("me"), ElementsAre("me"));
    EXPECT_EQ(fabric.description(), "threads of one process");
  });
}

TEST(LocalWorld, AThrowingRankEndsAnExchange) {
  std::atomic<int> told = 0;
  const auto run = [&] {
    run_local(4, [&](World& world, Fabric&) {
      if (world.rank() == 2) throw ConfigError("no such file");
      told += message_of<DeviceError>([&] { world.exchange(""); }) == "lost rank 2: no such file";
      throw DeviceError("because of rank 2");
    });
  };
  EXPECT_EQ(message_of<ConfigError>(run), "no such file");
  EXPECT_EQ(told, 3);
}

TEST(LocalWorld, AThrowingRankEndsCollectivesOfItsGroups) {
  std::atomic<int> told = 0;
  const auto run = [&] {
    run_local(4, [&](World& world, Fabric& fabric) {
      HostStream stream("reduce");
      const auto communicator = fabric.open(sub_mesh(kFour), kFour);
      if (world.rank() == 3) throw ConfigError("bad luck");
      double value = 1;
      reduce(*communicator, stream, value);
      const std::string message = message_of<DeviceError>([&] { stream.synchronize(); });
      told += message == "reduce: lost rank 3: bad luck";
      throw DeviceError(message);
    });
  };
  EXPECT_EQ(message_of<ConfigError>(run), "bad luck");
  EXPECT_EQ(told, 3);
}

// Rank 1's stream waits in one communicator for rank 0, which waits in another for rank 1.
TEST(LocalWorld, ARankThatFailsWithWorkUnderWayAbandonsIt) {
  const auto run = [&] {
    run_local(2, [&](World& world, Fabric& fabric) {
      HostStream first("first");
      HostStream second("second");
      const Mesh two{2, 1};
      const auto a = fabric.open(sub_mesh(two), two);
      const auto b = fabric.open(sub_mesh(two), two);
      double x = 1;
      double y = 1;
      if (world.rank() == 0) {
        reduce(*a, first, x);
        first.synchronize();
      }
      reduce(*b, second, y);
      if (world.rank() == 1) throw ConfigError("bad luck");
    });
  };
  EXPECT_EQ(message_of<ConfigError>(run), "bad luck");
}

TEST(LocalWorld, ARankThatEndsEarlyIsLost) {
  const auto run = [&] {
    run_local(2, [&](World& world, Fabric&) {
      if (world.rank() == 0) world.exchange("");
    });
  };
  EXPECT_EQ(message_of<DeviceError>(run), "lost rank 1: it has ended");
}

TEST(LocalWorld, ASilentRankIsLostAfterItsTime) {
  const auto run = [&] {
    run_local(2,
              [&](World& world, Fabric& fabric) {
                HostStream stream("reduce");
                const Mesh two{2, 1};
                const auto communicator = fabric.open(sub_mesh(two), two);
                double value = 1;
                if (world.rank() == 0) {
                  reduce(*communicator, stream, value);
                  stream.synchronize();
                } else {
                  world.exchange("waits for rank 0, which waits for it");
                }
              },
              {std::chrono::milliseconds(50)});
  };
  EXPECT_THAT(message_of<DeviceError>(run), testing::HasSubstr("it didn't come within 50 ms"));
}

TEST(LocalWorld, AFailedKernelEndsTheCollectivesAfterIt) {
  const auto run = [&] {
    run_local(4, [&](World& world, Fabric& fabric) {
      HostStream stream("reduce");
      const auto communicator = fabric.open(sub_mesh(kFour), kFour);
      if (world.rank() == 1) stream.enqueue([] { throw DeviceError("out of memory"); });
      double value = 1;
      reduce(*communicator, stream, value);
      stream.synchronize();
    });
  };
  EXPECT_EQ(message_of<DeviceError>(run), "reduce: out of memory");
}

TEST(LocalWorld, MembersMustSendTheSame) {
  const auto run = [&] {
    run_local(2, [&](World& world, Fabric& fabric) {
      HostStream stream("gather");
      const Mesh two{2, 1};
      const auto communicator = fabric.open(sub_mesh(two), two);
      std::vector<double> data(8);
      const std::int64_t count = world.rank() == 0 ? 3 : 4;
      communicator->enqueue(stream, {CollectiveKind::kAllGather,
                                     DType::kF64,
                                     {{{data.data(), count}}, {{data.data() + 4, count}}}});
      stream.synchronize();
    });
  };
  EXPECT_THAT(message_of<DeviceError>(run),
              testing::ContainsRegex("bytes came where (24|32) were expected"));
}

}  // namespace
}  // namespace amsp
