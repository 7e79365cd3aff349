// A job in which rank 2 comes to grief, for lost_process_test.py: lost-process WAY, with WAY how:
//   kill      it is killed in the middle of an all-reduce
//   exchange  it is killed while the others are in World::exchange
//   throw     its work fails while the others are in an all-reduce
// The others print what they see, and when, in ms after the agreed moment; then one aborts.
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <exception>
#include <string>
#include <thread>
#include <vector>

#include "core/error.h"
#include "executor/fabric/mpi_world.h"
#include "executor/fabric/socket_fabric.h"
#include "executor/host/host_stream.h"

namespace {

using Clock = std::chrono::steady_clock;
constexpr amsp::Rank kVictim = 2;

void run(amsp::World& world, amsp::Fabric& fabric, const std::string& way, Clock::time_point when) {
  const bool victim = world.rank() == kVictim;
  amsp::HostStream stream("reduce");
  const amsp::Mesh all{world.size(), 1};
  const auto communicator = fabric.open(amsp::sub_mesh(all), all);
  std::vector<float> data(16 << 20);
  amsp::Message message{amsp::CollectiveKind::kAllReduce, amsp::DType::kF32, {}};
  message.parts.resize(static_cast<std::size_t>(world.size()));
  message.parts[0] = {{data.data(), static_cast<std::int64_t>(data.size())}};

  std::jthread killer;
  if (victim && way != "throw") {
    killer = std::jthread([when] {
      std::this_thread::sleep_until(when);
      ::kill(::getpid(), SIGKILL);
    });
  }
  if (way == "exchange") {
    if (victim) std::this_thread::sleep_for(std::chrono::minutes(1));
    world.exchange("");
  }
  for (;;) {
    if (victim && way == "throw" && Clock::now() > when) throw amsp::DeviceError("bad luck");
    communicator->enqueue(stream, message);
    stream.synchronize();
  }
}

}  // namespace

int main(int argc, char** argv) {
  amsp::MpiWorld world;
  amsp::SocketFabric fabric(world, {});
  std::printf("pid %d\n", ::getpid());
  std::fflush(stdout);
  const auto when = Clock::time_point(std::chrono::nanoseconds(std::stoll(
      world
          .exchange(std::to_string((Clock::now() + std::chrono::seconds(1)).time_since_epoch() /
                                   std::chrono::nanoseconds(1)))
          .front())));
  try {
    run(world, fabric, argc > 1 ? argv[1] : "", when);
  } catch (const std::exception& error) {
    const auto late = (Clock::now() - when) / std::chrono::milliseconds(1);
    std::printf("rank %d after %ld ms: %s\n", world.rank(), static_cast<long>(late), error.what());
    std::fflush(stdout);
    // So that all see the loss before the first ends the job.
    std::this_thread::sleep_for(std::chrono::milliseconds(800));
    world.abort(amsp::kExitInternal);
  }
}
