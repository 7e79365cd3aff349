#include <gtest/gtest.h>

#include <chrono>
#include <ctime>
#include <map>
#include <thread>

#include "core/error.h"
#include "executor/cuda/cuda_device.h"

namespace amsp {
namespace {

std::int64_t now_ns() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

class CudaDeviceTest : public testing::Test {
 protected:
  void SetUp() override { device_ = make_cuda_device({}); }
  std::unique_ptr<Device> device_;
};

TEST_F(CudaDeviceTest, EventsAreOnTheHostsMonotonicClock) {
  const auto stream = device_->make_stream("compute");
  const auto first = device_->make_event(), second = device_->make_event();
  const auto memory = device_->allocate(64 << 20);
  device_->zero(*stream, memory.get(), 64 << 20);
  stream->synchronize();
  const std::int64_t before = now_ns();
  stream->record(*first);
  device_->zero(*stream, memory.get(), 64 << 20);
  stream->record(*second);
  second->synchronize();
  const std::int64_t after = now_ns();
  constexpr std::int64_t kSlackNs = 100'000;
  EXPECT_GT(first->time_ns(), before - kSlackNs);
  EXPECT_GT(second->time_ns(), first->time_ns());
  EXPECT_LT(second->time_ns(), after + kSlackNs);
}

TEST_F(CudaDeviceTest, StreamsWaitForEventsOfOthers) {
  const auto compute = device_->make_stream("compute"), other = device_->make_stream("gather");
  const auto event = device_->make_event();
  constexpr std::size_t kBytes = 32 << 20;
  const auto memory = device_->allocate(kBytes);
  std::vector<std::int32_t> ones(kBytes / 4, 1), got(kBytes / 4);
  device_->upload(*compute, memory.get(), ones.data(), kBytes);
  compute->record(*event);
  other->wait(*event);
  device_->download(*other, got.data(), memory.get(), kBytes);
  other->synchronize();
  EXPECT_EQ(got, ones);
}

TEST_F(CudaDeviceTest, MemoryIsZeroedAndItsLackIsSaidWithSizes) {
  const auto stream = device_->make_stream("compute");
  const auto memory = device_->allocate(1000);
  std::vector<char> got(1000, 1);
  device_->download(*stream, got.data(), memory.get(), 1000);
  stream->synchronize();
  EXPECT_EQ(got, std::vector<char>(1000));
  try {
    device_->allocate(std::size_t{1} << 50);
    FAIL() << "a pebibyte was there";
  } catch (const DeviceError& error) {
    EXPECT_NE(std::string(error.what()).find("1048576.000 GiB asked for"), std::string::npos)
        << error.what();
  }
  device_->allocate(1000);  // goes on
}

TEST_F(CudaDeviceTest, RefusesTypesWithoutKernels) {
  EXPECT_NO_THROW(device_->require(DType::kBf16, DType::kF32));
  EXPECT_THROW(device_->require(DType::kF32, DType::kBf16), ConfigError);
}

TEST_F(CudaDeviceTest, RecordsWhatATaskLaunchesOnTheHostsMonotonicClock) {
  try {
    device_->start_recording_kernels();
  } catch (const ConfigError& error) {
    GTEST_SKIP() << "[  SKIPPED ] " << error.what();
  }
  constexpr std::int64_t kElements = 8 << 20;
  const auto stream = device_->make_stream("compute");
  const auto start = device_->make_event(), end = device_->make_event();
  const auto memory = device_->allocate(kElements * 4);
  const std::string fill = "s1/fill", add = "s1/add", multiply = "s1/multiply";
  stream->label(fill);
  stream->record(*start);
  device_->zero(*stream, memory.get(), kElements * 4);
  stream->label(add);
  device_->run(*stream, Add{DType::kF32, kElements, memory.get(), memory.get(), memory.get()});
  stream->label(multiply);
  device_->run(*stream,
               Gemm{DType::kF32, DType::kF32, 512, 512, 512, memory.get(), 512, false, memory.get(),
                    512, false, static_cast<float*>(memory.get()) + (1 << 20), 512, false});
  stream->record(*end);
  end->synchronize();
  stream->synchronize();
  std::map<std::string, std::vector<KernelRun>> by_task;
  for (int i = 0; i < 50 && by_task.size() < 3; ++i) {  // the profiler delivers when it likes
    const KernelRuns taken = device_->take_kernels();
    EXPECT_EQ(taken.lost, 0);
    for (const KernelRun& run : taken.runs) by_task[run.task].push_back(run);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  constexpr std::int64_t kSlackNs = 200'000;
  ASSERT_EQ(by_task[fill].size(), 1u);
  EXPECT_EQ(by_task[fill][0].name, "memset");
  ASSERT_EQ(by_task[add].size(), 1u);
  EXPECT_NE(by_task[add][0].name.find("add"), std::string::npos) << by_task[add][0].name;
  EXPECT_GE(by_task[multiply].size(), 1u);
  for (const auto& [task, runs] : by_task)
    for (const KernelRun& run : runs) {
      EXPECT_GT(run.start_ns, start->time_ns() - kSlackNs) << task;
      EXPECT_GT(run.end_ns, run.start_ns) << task;
      EXPECT_LT(run.end_ns, end->time_ns() + kSlackNs) << task;
    }
}

}  // namespace
}  // namespace amsp
