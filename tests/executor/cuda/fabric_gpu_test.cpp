#include <gtest/gtest.h>

#include <thread>

#include "core/error.h"
#include "executor/cuda/cuda_device.h"
#include "executor/cuda/fabric/nccl_fabric.h"
#include "executor/cuda/fabric/peer_fabric.h"
#include "tests/executor/cuda/lone_rank.h"

namespace amsp {
namespace {

/// Four virtual ranks on one GPU. Rank r holds element i of a message as 100 r + i: every sum is
/// exact.
class PeerFabricTest : public testing::TestWithParam<CollectiveKind> {
 protected:
  static constexpr int kRanks = 4;
  static constexpr std::int64_t kCounts[kRanks] = {3, 0, 5, 2};  // of the parts
  static constexpr int kAll = 10;
};

TEST_P(PeerFabricTest, DoesWhatTheMessageSays) {
  std::vector<std::unique_ptr<Device>> devices;
  std::vector<Device*> pointers;
  for (int i = 0; i < kRanks; ++i) {
    devices.push_back(make_cuda_device({}));
    pointers.push_back(devices.back().get());
  }
  const auto fabrics = make_peer_fabrics(pointers, {});
  EXPECT_EQ(fabrics[0]->description(),
            "virtual ranks: numerics and schedule only, no interconnect");
  std::vector<std::vector<float>> results(kRanks, std::vector<float>(kAll));
  std::vector<std::thread> ranks;
  for (int rank = 0; rank < kRanks; ++rank)
    ranks.emplace_back([&, rank] {
      Device& device = *devices[rank];
      const auto stream = device.make_stream("gather");
      const auto group = fabrics[rank]->open(sub_mesh({kRanks, 1}), {kRanks, 1});
      std::vector<float> values(kAll);
      for (int i = 0; i < kAll; ++i) values[i] = float(100 * rank + i);
      const auto memory = device.allocate(kAll * 4);
      device.upload(*stream, memory.get(), values.data(), kAll * 4);
      Message message{GetParam(), DType::kF32, {}};
      auto* at = static_cast<float*>(memory.get());
      for (const std::int64_t count : kCounts) {
        message.parts.push_back({{at, count}});
        at += count;
      }
      group->enqueue(*stream, message);
      device.download(*stream, results[rank].data(), memory.get(), kAll * 4);
      stream->synchronize();
    });
  for (std::thread& rank : ranks) rank.join();

  for (int rank = 0; rank < kRanks; ++rank) {
    int i = 0;
    for (int part = 0; part < kRanks; ++part)
      for (int k = 0; k < kCounts[part]; ++k, ++i) {
        const float sum = float(100 * (0 + 1 + 2 + 3) + 4 * i);
        const bool gathered =
            GetParam() == CollectiveKind::kAllGather || GetParam() == CollectiveKind::kBroadcast;
        if (GetParam() == CollectiveKind::kReduceScatter && part != rank) continue;  // undefined
        EXPECT_EQ(results[rank][i], gathered ? float(100 * part + i) : sum);
      }
  }
}

INSTANTIATE_TEST_SUITE_P(, PeerFabricTest,
                         testing::Values(CollectiveKind::kAllGather, CollectiveKind::kReduceScatter,
                                         CollectiveKind::kAllReduce, CollectiveKind::kBroadcast),
                         [](const auto& kind) { return std::string(to_string(kind.param)); });

TEST(NcclFabricTest, OpensOverOneRankAndLeavesItsMemoryAlone) {
  LoneWorld world;
  const auto device = make_cuda_device({});
  const auto fabric = make_nccl_fabric(world, *device, {});
  EXPECT_EQ(fabric->description().substr(0, 5), "NCCL ");
  const auto group = fabric->open(sub_mesh({1, 1}), {1, 1});
  const auto stream = device->make_stream("gather");
  const auto memory = device->allocate(16);
  group->enqueue(*stream, {CollectiveKind::kAllReduce, DType::kF32, {{{memory.get(), 4}}}});
  EXPECT_NO_THROW(stream->synchronize());
}

}  // namespace
}  // namespace amsp
