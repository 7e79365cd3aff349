#include "executor/host/host_device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "core/error.h"

namespace amsp {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(HostDevice, SaysWhatItIs) {
  const auto device = make_host_device();
  EXPECT_EQ(device->name(), "host");
  EXPECT_THAT(device->description(), testing::MatchesRegex(".+, OpenBLAS [0-9.]+ .*, 1 thread"));
}

TEST(HostDevice, TakesEveryPairOfTypesThatItHasKernelsFor) {
  const auto device = make_host_device();
  device->require(DType::kF64, DType::kF64);
  device->require(DType::kF32, DType::kF32);
  device->require(DType::kBf16, DType::kBf16);
  device->require(DType::kBf16, DType::kF32);
}

TEST(HostDevice, NamesTheTypesThatItHasIfOthersAreRequired) {
  const auto device = make_host_device();
  EXPECT_THAT([&] { device->require(DType::kF32, DType::kBf16); },
              ThrowsMessage<ConfigError>(
                  "the host device can't compute in fp32 with gradients in bf16: it can in fp64 "
                  "with fp64, fp32 with fp32, bf16 with bf16 or fp32"));
  EXPECT_THROW(device->require(DType::kF64, DType::kF32), ConfigError);
  EXPECT_THROW(device->require(DType::kI32, DType::kF32), ConfigError);
  EXPECT_THROW(device->require(DType::kI32, DType::kI32), ConfigError);
}

TEST(HostDevice, MemoryIsZeroedAndAligned) {
  const auto device = make_host_device();
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, std::size_t{100'000}}) {
    const auto memory = device->allocate(bytes);
    ASSERT_NE(memory, nullptr);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory.get()) % 256, 0u);
    const auto* const data = static_cast<const char*>(memory.get());
    EXPECT_EQ(std::count(data, data + bytes, 0), static_cast<std::ptrdiff_t>(bytes));
  }
}

TEST(HostDevice, MemoryThatTheMachineLacksIsRefused) {
  const auto device = make_host_device();
  EXPECT_THAT([&] { device->allocate(SIZE_MAX); },
              ThrowsMessage<DeviceError>("out of memory: 18446744073709551615 B asked for, and the "
                                         "machine has no more"));
}

TEST(HostDevice, MemoryOutlivesItsDevice) {
  auto device = make_host_device();
  const auto memory = device->allocate(600);
  device.reset();
  std::memset(memory.get(), 1, 600);
}

TEST(HostDevice, RecordsKernelsByTheNamesOfTheWorkOnceAskedTo) {
  const auto device = make_host_device();
  EXPECT_THROW(device->take_kernels(), InternalError);
  const auto stream = device->make_stream("compute");
  const auto memory = device->allocate(64);
  float numbers[4] = {1, 2, 3, 4};
  const auto work = [&] {
    device->upload(*stream, memory.get(), numbers, sizeof numbers);
    device->run(*stream, Add{DType::kF32, 4, memory.get(), memory.get(), memory.get()});
    device->download(*stream, numbers, memory.get(), sizeof numbers);
    device->zero(*stream, memory.get(), 64);
    stream->synchronize();
  };
  work();
  device->start_recording_kernels();
  EXPECT_TRUE(device->take_kernels().runs.empty());
  work();
  std::string names;
  for (const KernelRun& run : device->take_kernels().runs) names += run.task + "/" + run.name + " ";
  EXPECT_EQ(names, "compute/upload compute/add compute/download compute/zero ");
}

TEST(HostDevice, CopiesInTheOrderOfTheStream) {
  const auto device = make_host_device();
  const auto stream = device->make_stream("copies");
  const auto memory = device->allocate(3 * sizeof(int));
  const std::vector<int> up = {1, 2, 3};
  std::vector<int> down(3), zeroed(3, 7);
  device->upload(*stream, memory.get(), up.data(), 3 * sizeof(int));
  device->download(*stream, down.data(), memory.get(), 3 * sizeof(int));
  device->zero(*stream, memory.get(), 2 * sizeof(int));
  device->download(*stream, zeroed.data(), memory.get(), 3 * sizeof(int));
  stream->synchronize();
  EXPECT_EQ(down, up);
  EXPECT_EQ(zeroed, (std::vector<int>{0, 0, 3}));
}

TEST(HostDevice, AKernelThatFailsIsNamedByItsLabel) {
  const auto device = make_host_device();
  const auto stream = device->make_stream("compute");
  const std::string label = "s1/mb0/fwd/embedding/forward";
  const std::int32_t token = -1;
  const float table = 0;
  float out;
  stream->label(label);
  device->run(*stream, Embedding{DType::kF32, 1, 1, &token, &table, &out});
  EXPECT_THAT(
      [&] { stream->synchronize(); },
      ThrowsMessage<DeviceError>("s1/mb0/fwd/embedding/forward: token 0 of the batch is -1"));
}

TEST(HostDevice, KernelsWithoutTheTypeFail) {
  const auto device = make_host_device();
  const auto stream = device->make_stream("compute");
  device->run(*stream, Add{DType::kI32, 0, nullptr, nullptr, nullptr});
  EXPECT_THAT([&] { stream->synchronize(); },
              ThrowsMessage<DeviceError>(HasSubstr("no kernel computes in int32")));
}

// Streams share nothing but what they are given: scratch memory is each thread's own.
TEST(HostDevice, StreamsThatComputeSideBySideGiveTheSameBits) {
  constexpr int kStreams = 4, kSequence = 96, kDim = 32;
  const auto device = make_host_device();
  std::vector<float> q(kSequence * kDim);
  for (std::size_t i = 0; i < q.size(); ++i) q[i] = static_cast<float>(i % 17) / 17 - 0.5F;
  std::vector<std::vector<float>> out(kStreams, std::vector<float>(q.size()));
  std::vector<std::vector<float>> lse(kStreams, std::vector<float>(kSequence));
  std::vector<std::unique_ptr<Stream>> streams;
  for (int i = 0; i < kStreams; ++i) streams.push_back(device->make_stream("s"));
  for (int round = 0; round < 10; ++round)
    for (int i = 0; i < kStreams; ++i)
      device->run(*streams[i], Attention{DType::kF32, 1, kSequence, 1, 1, kDim, q.data(), kDim,
                                         q.data(), q.data(), kDim, out[i].data(), lse[i].data()});
  for (const auto& stream : streams) stream->synchronize();
  for (int i = 1; i < kStreams; ++i) EXPECT_EQ(out[i], out[0]);
}

}  // namespace
}  // namespace amsp
