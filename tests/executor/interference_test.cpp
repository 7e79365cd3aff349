#include <gtest/gtest.h>

#include <mutex>
#include <vector>

#include "executor/fabric/local_world.h"
#include "executor/fabric/paced_fabric.h"
#include "executor/host/host_device.h"
#include "executor/measure/interference_timer.h"

namespace amsp {
namespace {

double share(double product_alone, double product_beside, double alone, double beside) {
  const Interference interference{Seconds{product_alone}, Seconds{product_beside}, Seconds{alone},
                                  Seconds{beside}};
  return interference.compute_share();
}

TEST(Interference, ShareIsTheComputeLostPerSecondOfCollectives) {
  // Products at 4/5 of their pace for as long as the collectives take anyway.
  EXPECT_DOUBLE_EQ(share(4, 5, 1, 1), 0.2);
  // At half their pace for twice as long: a whole core.
  EXPECT_DOUBLE_EQ(share(1, 2, 3, 6), 1);
  EXPECT_DOUBLE_EQ(share(1, 2, 1, 9), 1);
  // Noise.
  EXPECT_DOUBLE_EQ(share(2, 1.9, 1, 1), 0);
}

TEST(Interference, IsTheSameOnAllRanksAndSeesWhatThePaceAllows) {
  constexpr int kRanks = 2;
  // 1 MB and 2 MB over 1 GB/s, half of each from every rank: 1.5 ms.
  const PaceOptions pace{{1_GBps, 0_us}, {1_GBps, 0_us}};
  std::mutex mutex;
  std::vector<Interference> found;
  run_local(kRanks, [&](World& world, Fabric& threads) {
    const auto device = make_host_device();
    PacedFabric fabric(world, threads, pace);
    const Interference mine = time_interference(
        world, fabric, *device, CollectiveKind::kAllGather, sub_mesh({kRanks, 1}), {kRanks, 1},
        DType::kF32, {Bytes{1'000'000}, Bytes{2'000'000}}, {64, 64, 64}, {2, Seconds{0.01}});
    const std::lock_guard lock(mutex);
    found.push_back(mine);
  });
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].product_beside, found[1].product_beside);
  EXPECT_EQ(found[0].collectives_beside, found[1].collectives_beside);
  EXPECT_GE(found[0].collectives_alone.value, 1.5e-3);
  EXPECT_GE(found[0].collectives_beside.value, 1.5e-3);
  EXPECT_GT(found[0].product_alone.value, 0);
  EXPECT_GT(found[0].product_beside.value, 0);
}

}  // namespace
}  // namespace amsp
