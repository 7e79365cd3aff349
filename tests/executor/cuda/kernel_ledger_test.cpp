#include "executor/cuda/kernel_ledger.h"

#include <gtest/gtest.h>

#include <thread>

#include "core/error.h"

namespace amsp::cuda {
namespace {

const int kDevice = 0, kOther = 0;

std::string text(const KernelRuns& runs) {
  std::string text;
  for (const KernelRun& run : runs.runs)
    text += run.task + " " + run.name + " " + std::to_string(run.start_ns) + " " +
            std::to_string(run.end_ns) + "\n";
  return text;
}

TEST(KernelLedger, RunsAreOfTheTaskThatWasOpenAtTheirLaunch) {
  KernelLedger ledger;
  ledger.open(&kDevice, "s1/first");
  ledger.launched(7);
  ledger.launched(8);
  ledger.close();
  ledger.open(&kDevice, "s1/second");
  ledger.launched(9);
  ledger.close();
  // In any order, and later.
  ledger.ran("axpy", 9, 300, 350);
  ledger.ran("_Z4scalIfEvPfT_i", 7, 100, 150);
  ledger.ran("memset", 8, 150, 160);
  const KernelRuns runs = ledger.take(&kDevice);
  EXPECT_EQ(text(runs),
            "s1/second axpy 300 350\n"
            "s1/first void scal<float>(float*, float, int) 100 150\n"
            "s1/first memset 150 160\n");
  EXPECT_EQ(runs.lost + runs.without_task, 0);
  EXPECT_EQ(text(ledger.take(&kDevice)), "");
}

TEST(KernelLedger, ALaunchToldTwiceUnderOneNumberIsOne) {
  KernelLedger ledger;
  ledger.open(&kDevice, "task");
  ledger.launched(1);  // by the runtime
  ledger.launched(1);  // and by the driver beneath it
  ledger.close();
  ledger.ran("k", 1, 10, 20);
  EXPECT_EQ(text(ledger.take(&kDevice)), "task k 10 20\n");
}

TEST(KernelLedger, OneCallMayRunSeveralThings) {
  KernelLedger ledger;
  ledger.open(&kDevice, "task");
  ledger.launched(1);
  ledger.close();
  ledger.ran("first half", 1, 10, 20);
  ledger.ran("second half", 1, 20, 30);
  EXPECT_EQ(text(ledger.take(&kDevice)), "task first half 10 20\ntask second half 20 30\n");
}

TEST(KernelLedger, ThreadsHaveTasksOfTheirOwn) {
  KernelLedger ledger;
  ledger.open(&kDevice, "mine");
  std::thread other([&] {
    ledger.open(&kOther, "other");
    ledger.launched(2);
    ledger.close();
  });
  other.join();
  ledger.launched(1);
  ledger.close();
  ledger.ran("k", 1, 10, 20);
  ledger.ran("k", 2, 30, 40);
  EXPECT_EQ(text(ledger.take(&kDevice)), "mine k 10 20\n");
  EXPECT_EQ(text(ledger.take(&kOther)), "other k 30 40\n");
}

// NCCL's, for a non-blocking group.
TEST(KernelLedger, AThreadWithoutATaskLaunchesForTheOnlyOpenOne) {
  KernelLedger ledger;
  ledger.open(&kDevice, "collective");
  std::thread([&] { ledger.launched(1); }).join();
  ledger.close();
  ledger.ran("ncclDevKernel_AllGather_RING_LL", 1, 10, 20);
  EXPECT_EQ(text(ledger.take(&kDevice)), "collective ncclDevKernel_AllGather_RING_LL 10 20\n");
}

TEST(KernelLedger, WhatCouldBeOfTwoTasksIsOfNone) {
  KernelLedger ledger;
  ledger.open(&kDevice, "one");
  std::thread([&] {
    ledger.open(&kOther, "two");
    std::thread([&] { ledger.launched(1); }).join();
    ledger.close();
  }).join();
  ledger.close();
  ledger.ran("k", 1, 10, 20);
  const KernelRuns runs = ledger.take(&kDevice);
  EXPECT_EQ(text(runs), "");
  EXPECT_EQ(runs.without_task, 1);
}

TEST(KernelLedger, CountsRunsWithoutALaunchWithoutTimesAndDropped) {
  KernelLedger ledger;
  ledger.launched(1);  // no task is open
  ledger.open(&kDevice, "task");
  ledger.launched(2);
  ledger.close();
  ledger.ran("of nobody", 1, 10, 20);
  ledger.ran("never launched", 99, 10, 20);
  ledger.ran("without times", 2, 0, 0);
  ledger.ran("backwards", 2, 20, 10);
  ledger.lost(3);
  const KernelRuns runs = ledger.take(&kDevice);
  EXPECT_EQ(text(runs), "");
  EXPECT_EQ(runs.without_task, 2);
  EXPECT_EQ(runs.lost, 5);
  const KernelRuns later = ledger.take(&kDevice);
  EXPECT_EQ(later.lost + later.without_task, 0);
}

TEST(KernelLedger, KeepsALaunchForAFewTakesOfItsOwnerOnly) {
  KernelLedger ledger;
  const auto launch_then_take = [&](int takes) {
    ledger.open(&kDevice, "task");
    ledger.launched(1);
    ledger.close();
    for (int i = 0; i < 100; ++i) ledger.take(&kOther);
    for (int i = 0; i < takes; ++i) ledger.take(&kDevice);
    ledger.ran("k", 1, 10, 20);
    return ledger.take(&kDevice);
  };
  EXPECT_EQ(text(launch_then_take(KernelLedger::kKeptTakes - 1)), "task k 10 20\n");
  const KernelRuns late = launch_then_take(KernelLedger::kKeptTakes);
  EXPECT_EQ(text(late), "");
  EXPECT_EQ(late.without_task, 1);
}

TEST(KernelLedger, AnOwnerThatIsGoneLeavesNothing) {
  KernelLedger ledger;
  ledger.open(&kDevice, "task");
  ledger.launched(1);
  ledger.launched(2);
  ledger.close();
  ledger.ran("k", 1, 10, 20);
  ledger.forget(&kDevice);
  ledger.ran("k", 2, 10, 20);
  EXPECT_EQ(text(ledger.take(&kDevice)), "");
}

TEST(KernelLedger, ClosingWhatIsNotOpenIsAnInternalError) {
  KernelLedger ledger;
  EXPECT_THROW(ledger.close(), InternalError);
}

TEST(KernelNames, AreReadableAndLeftAloneWhereTheyArentMangled) {
  EXPECT_EQ(demangled("_ZN4amsp4cuda6rotaryIdEEvi"), "void amsp::cuda::rotary<double>(int)");
  EXPECT_EQ(demangled("ampere_bf16_s16816gemm_128x128"), "ampere_bf16_s16816gemm_128x128");
  EXPECT_EQ(demangled("i"), "i");  // a mangled type, but no mangled name
  EXPECT_EQ(demangled("_Znonsense"), "_Znonsense");
  EXPECT_EQ(copy_name(1), "memcpy HtoD");
  EXPECT_EQ(copy_name(2), "memcpy DtoH");
  EXPECT_EQ(copy_name(8), "memcpy DtoD");
  EXPECT_EQ(copy_name(0), "memcpy");
}

}  // namespace
}  // namespace amsp::cuda
