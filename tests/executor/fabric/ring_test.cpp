#include <gtest/gtest.h>

#include <algorithm>

#include "executor/fabric/local_world.h"
#include "executor/host/host_stream.h"
#include "scattered_message.h"

namespace amsp {
namespace {

class RingCollectives : public testing::TestWithParam<std::tuple<int, DType>> {};

TEST_P(RingCollectives, GiveTheSerialResult) {
  const auto [n, type] = GetParam();
  run_local(n, [&](World&, Fabric& fabric) {
    const Mesh all{n, 1};
    expect_right_collectives(*fabric.open(sub_mesh(all), all), type);
  });
}

INSTANTIATE_TEST_SUITE_P(All, RingCollectives,
                         testing::Combine(testing::Range(1, 9),
                                          testing::Values(DType::kF64, DType::kF32, DType::kBf16,
                                                          DType::kI32)),
                         [](const auto& one) {
                           return std::to_string(std::get<0>(one.param)) + "x" +
                                  to_string(std::get<1>(one.param));
                         });

TEST(Ring, WorksOnGroupsWithStrides) {
  run_local(8, [](World&, Fabric& fabric) {
    const Mesh dp{4, 2};
    for (const Mesh inner : {Mesh{2, 1}, Mesh{4, 1}, Mesh{1, 1}}) {
      expect_right_collectives(*fabric.open(sub_mesh(inner), dp), DType::kF32);
      expect_right_collectives(*fabric.open(quotient(dp, inner), dp), DType::kF32);
    }
  });
}

// Slots of up to 40 chunks of 512 KiB, many more than are under way at once.
TEST(Ring, LongMessagesDoNotBlock) {
  constexpr std::int64_t kChunk = 131'072;
  for (const std::vector<std::int64_t>& chunks :
       {std::vector<std::int64_t>{20, 20, 20}, {40, 0, 0}, {0, 40, 7}, {1, 1, 30}}) {
    run_local(3, [&](World& world, Fabric& fabric) {
      const Mesh all{3, 1};
      const auto communicator = fabric.open(sub_mesh(all), all);
      HostStream stream("long");
      for (const CollectiveKind kind : all_kinds()) {
        std::vector<std::vector<float>> data;
        Message message{kind, DType::kF32, {}};
        for (std::size_t part = 0; part < 3; ++part) {
          const auto count = static_cast<std::size_t>(chunks[part] * kChunk);
          data.emplace_back(count, static_cast<float>(world.rank() + 1));
          message.parts.push_back({{data[part].data(), static_cast<std::int64_t>(count)}});
        }
        communicator->enqueue(stream, message);
        stream.synchronize();
        const bool sums =
            kind == CollectiveKind::kAllReduce || kind == CollectiveKind::kReduceScatter;
        for (std::size_t part = 0; part < 3; ++part) {
          if (kind == CollectiveKind::kReduceScatter && static_cast<int>(part) != world.rank()) {
            continue;
          }
          const float right = sums ? 6.0F : static_cast<float>(part + 1);
          EXPECT_EQ(std::count(data[part].begin(), data[part].end(), right), chunks[part] * kChunk)
              << to_string(kind) << ", part " << part;
        }
      }
    });
  }
}

TEST(Ring, SumsInTheOrderOfTheHeader) {
  // ((x1 + x2) + x0) and ((x2 + x0) + x1) differ: 1e17 + 1 is 1e17 in fp64.
  const double x[] = {1, 1e17, -1e17};
  run_local(3, [&](World& world, Fabric& fabric) {
    const Mesh all{3, 1};
    const auto communicator = fabric.open(sub_mesh(all), all);
    std::vector<double> parts(3, x[world.rank()]);
    HostStream stream("sum");
    communicator->enqueue(stream, {CollectiveKind::kAllReduce,
                                   DType::kF64,
                                   {{{&parts[0], 1}}, {{&parts[1], 1}}, {{&parts[2], 1}}}});
    stream.synchronize();
    EXPECT_EQ(parts,
              (std::vector<double>{(1e17 - 1e17) + 1, (-1e17 + 1) + 1e17, (1 + 1e17) - 1e17}));
  });
}

TEST(Ring, CommunicatorsRunSideBySide) {
  run_local(4, [](World&, Fabric& fabric) { expect_independent_communicators(fabric); });
}

}  // namespace
}  // namespace amsp
