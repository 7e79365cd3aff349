#include "kernels/kernel_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/json/json.h"
#include "data/embedded.h"
#include "tests/kernels/toy_table.h"

namespace amsp {
namespace {

using enum AttentionKernel;

TEST(KernelTable, GridShapesAreAsMeasured) {
  // 2 * 1000 * 100 * 100 flop at 1 Tflop/s
  const KernelTime time = toy_table().gemm(GemmType::kBf16, 1000, 100, 100).value();
  EXPECT_NEAR(time.time.value, 20e-6, 1e-15);
  EXPECT_EQ(time.source, Source::kMeasured);
  EXPECT_EQ(time.spread, 0.05);
  EXPECT_FALSE(time.outside);
}

TEST(KernelTable, RatesAreLogLinearBetween) {
  const KernelTable table = toy_table();
  // k = 100 sqrt(2), rounded: halfway in log from 1 to 2 Tflop/s; the rate goes as k
  const KernelTime one = table.gemm(GemmType::kBf16, 1000, 141, 100).value();
  EXPECT_NEAR(one.time.value, 2e7 / 1e12, 1e-15);
  EXPECT_EQ(one.source, Source::kDerived);
  EXPECT_EQ(one.spread, 0.1);
  // as in each size, time of this table doesn't depend on any of them
  EXPECT_NEAR(table.gemm(GemmType::kBf16, 1500, 130, 170)->time.value, 20e-6, 1e-12);
}

TEST(KernelTable, AboveTheGridTheRateHolds) {
  const KernelTime time = toy_table().gemm(GemmType::kBf16, 4000, 400, 200, Clock::kBurst).value();
  EXPECT_NEAR(time.time.value, 2.0 * 4000 * 400 * 200 / 8e12, 1e-15);
  EXPECT_TRUE(time.outside);
  EXPECT_EQ(time.spread, 0.2);
}

TEST(KernelTable, BelowTheGridTimeFollowsTheBorder) {
  // The toy's time is the same for 100 and 200: a chip half empty, no gain below.
  EXPECT_NEAR(toy_table().gemm(GemmType::kBf16, 1000, 50, 100)->time.value, 20e-6, 1e-15);
  // With one rate for all k, time above the 3 us is in proportion to k: growth log2(37/17) > 1 is
  // held to 1.
  std::string text = kToyTable;
  text.replace(text.find("[[1, 2], [2, 4]"), 15, "[[1, 1], [2, 2]");
  const KernelTime time = toy_table(text).gemm(GemmType::kBf16, 1000, 50, 100).value();
  EXPECT_NEAR(time.time.value, 3e-6 + 17e-6 / 2, 1e-12);
  EXPECT_TRUE(time.outside);
  EXPECT_EQ(time.source, Source::kDerived);
}

TEST(KernelTable, FewRowsAreTheTransposedProduct) {
  const KernelTable table = toy_table();
  // n = 1000 rows of the transposed product, m = 150 columns
  const KernelTime time = table.gemm(GemmType::kBf16, 150, 100, 1000).value();
  EXPECT_EQ(time.time, table.gemm(GemmType::kBf16, 1000, 100, 150)->time);
  EXPECT_EQ(time.source, Source::kDerived);
  EXPECT_FALSE(time.outside);
}

TEST(KernelTable, NoGemmOutrunsThePowerLimitForLong) {
  const KernelTable table = toy_table();
  EXPECT_EQ(table.sustained_rate(GemmType::kBf16)->value, 6e12);
  // 8 Tflop/s in a burst, 6 for long
  EXPECT_NEAR(table.gemm(GemmType::kBf16, 2000, 200, 200, Clock::kBurst)->time.value, 160e6 / 8e12,
              1e-15);
  const KernelTime time = table.gemm(GemmType::kBf16, 2000, 200, 200).value();
  EXPECT_NEAR(time.time.value, 160e6 / 6e12, 1e-15);
  EXPECT_EQ(time.source, Source::kDerived);
  // slower ones aren't held back
  EXPECT_EQ(table.gemm(GemmType::kBf16, 2000, 100, 200)->source, Source::kMeasured);
}

TEST(KernelTable, AttentionOfTheGridAndBetween) {
  const KernelTable table = toy_table();
  const KernelTime eight = table.attention(kFlash2, false, {1000, 2, 4, 64}).value();
  EXPECT_NEAR(eight.time.value, 2.0 * 1000 * 1000 * 8 * 64 / 4e12, 1e-12);
  EXPECT_EQ(eight.source, Source::kMeasured);
  EXPECT_EQ(eight.spread, 0.03);
  // 2 of 1 to 8 is a third of the way in log: 4^(1/3) Tflop/s
  const KernelTime two = table.attention(kFlash2, false, {1000, 1, 2, 64}).value();
  EXPECT_NEAR(two.time.value, 2.0 * 1000 * 1000 * 2 * 64 / (std::cbrt(4) * 1e12), 1e-12);
  EXPECT_EQ(two.source, Source::kDerived);
  EXPECT_EQ(two.spread, 0.06);
}

TEST(KernelTable, AttentionOutsideTheGrid) {
  const KernelTable table = toy_table();
  const auto time = [&](std::int64_t seq, std::int64_t heads, std::int64_t head_dim) {
    const KernelTime found = table.attention(kFlash2, false, {seq, 1, heads, head_dim}).value();
    EXPECT_TRUE(found.outside);
    EXPECT_FALSE(found.spread.has_value());
    return found.time.value;
  };
  EXPECT_NEAR(time(4000, 8, 64), 2.0 * 16e6 * 8 * 64 / 4e12, 1e-12);
  EXPECT_NEAR(time(2000, 16, 64), 2.0 * 4e6 * 16 * 64 / 4e12, 1e-12);
  EXPECT_NEAR(time(2000, 8, 128), 2.0 * 4e6 * 8 * 128 / 4e12, 1e-12);
  // below, all but 2 us fall with the square: 256 us at 1000 tokens
  EXPECT_NEAR(time(500, 8, 64), 2e-6 + (256e-6 - 2e-6) / 4, 1e-10);
}

TEST(KernelTable, BackwardAndOtherKernelsAreRatios) {
  const KernelTable table = toy_table();
  const AttentionShape shape{2000, 1, 8, 64};
  const double forward = table.attention(kFlash2, false, shape)->time.value;
  // 2000 is halfway in log from 1000 to 4000: 0.75 of the rate at 2.5 times the work
  const KernelTime backward = table.attention(kFlash2, true, shape).value();
  EXPECT_NEAR(backward.time.value, forward * 2.5 / 0.75, 1e-12);
  EXPECT_EQ(backward.source, Source::kDerived);
  EXPECT_FALSE(backward.spread.has_value());
  const KernelTime triton = table.attention(kTriton, false, shape).value();
  EXPECT_NEAR(triton.time.value, forward / 0.5, 1e-12);
  EXPECT_EQ(triton.source, Source::kAssumed);
}

TEST(KernelTable, WhatItDoesNotCoverIsNothing) {
  const KernelTable table = toy_table();
  EXPECT_FALSE(table.gemm(GemmType::kFp8, 1000, 100, 100).has_value());
  EXPECT_FALSE(table.sustained_rate(GemmType::kFp8).has_value());
  EXPECT_FALSE(table.attention(kFlash3, false, {1000, 1, 8, 64}).has_value());
  EXPECT_FALSE(table.attention(kTriton, true, {1000, 1, 8, 64}).has_value());
  EXPECT_THAT(table.attention_kernels(false), testing::ElementsAre(kFlash2, kTriton));
  EXPECT_THAT(table.attention_kernels(true), testing::ElementsAre(kFlash2));
}

TEST(KernelTable, SmallMemoryKernelsAreSlower) {
  const KernelTable table = toy_table();
  EXPECT_NEAR(table.memory(1e6, {1e12}).time.value, 3e-6, 1e-15);  // a third of the copy rate
  EXPECT_NEAR(table.memory(1e9, {1e12}).time.value, 1002e-6, 1e-12);
  EXPECT_EQ(table.queue_gap(), Seconds{1e-6});
}

// The compiled-in tables.

TEST(KernelTables, EveryGpuPresetHasItsChips) {
  const Json gpus = parse_json(embedded("gpus.json"), "gpus.json");
  for (const char* name :
       {"A100-SXM4-40GB", "A100-SXM4-80GB", "A800-SXM4-80GB", "B200-SXM-180GB", "GB200-186GB",
        "H100-SXM5-80GB", "H200-SXM5-141GB", "H800-SXM5-80GB", "L40S-PCIe-48GB"}) {
    EXPECT_TRUE(gpus["gpus"].contains(name)) << name;
    EXPECT_NE(kernel_table(name), nullptr) << name;
  }
  EXPECT_EQ(kernel_table("H800-SXM5-80GB")->name(), "h100");
  const auto source = [](const char* gpu) {
    return kernel_table(gpu)->gemm(GemmType::kBf16, 4096, 4096, 512)->source;
  };
  EXPECT_EQ(source("H100-SXM5-80GB"), Source::kMeasured);
  EXPECT_EQ(source("H800-SXM5-80GB"), Source::kDerived);
}

TEST(KernelTables, UnknownGpusSaySo) {
  EXPECT_EQ(kernel_table("H20-SXM5-96GB"), nullptr);
  EXPECT_EQ(kernel_table_source("H20-SXM5-96GB"),
            "no kernels of H20-SXM5-96GB were measured: data/kernels has no table for it");
  EXPECT_THAT(kernel_table_source("A800-SXM4-80GB"), testing::StartsWith("derived: "));
}

TEST(KernelTables, TimesNeverFallMuchWhenAShapeGrows) {
  // Libraries change kernels from shape to shape: one pair in 40 falls, by 30 % at most.
  for (const std::string& name : kernel_table_names()) {
    SCOPED_TRACE(name);
    const KernelTable table = kernel_table_named(name);
    for (const std::int64_t n : {256, 512, 1376, 4096, 11008, 128256})
      for (const std::int64_t k : {256, 512, 1024, 4096, 16384, 65536}) {
        double before = 0;
        int falls = 0;
        for (std::int64_t m = 16; m <= 131072; m *= 2) {
          const double now = table.gemm(GemmType::kBf16, m, k, n)->time.value;
          EXPECT_GT(now, 0.7 * before) << m << " " << k << " " << n;
          falls += now < 0.99 * before;
          before = now;
        }
        EXPECT_LE(falls, 2) << k << " " << n;
        const double tall = table.gemm(GemmType::kBf16, 1 << 20, k, n)->time.value;
        EXPECT_GT(tall, 4 * table.gemm(GemmType::kBf16, 1 << 17, k, n)->time.value);
      }
  }
}

TEST(KernelTables, NoTimeIsAbsurd) {
  for (const std::string& name : kernel_table_names()) {
    SCOPED_TRACE(name);
    const KernelTable table = kernel_table_named(name);
    for (const std::int64_t m : {1, 100, 1000, 1024, 9999, 100000})
      for (const std::int64_t n : {1, 100, 512, 5000, 100000})
        for (const std::int64_t k : {1, 100, 512, 5000, 100000}) {
          const double time = table.gemm(GemmType::kBf16, m, k, n)->time.value;
          const double rate = 2.0 * double(m * n) * double(k) / time;
          EXPECT_GT(time, 1e-6) << m << " " << k << " " << n;
          EXPECT_LE(rate, table.sustained_rate(GemmType::kBf16)->value * (1 + 1e-12));
        }
    EXPECT_LT(table.gemm(GemmType::kBf16, 1, 1, 1)->time.value, 8e-6);
  }
}

TEST(KernelTables, LlamaOnH100) {
  // 989 TFLOP/s peak. Table and power limit meet: 0.71 of it for a 7B layer at 4096 tokens.
  const KernelTable& table = *kernel_table("H100-SXM5-80GB");
  const double sustained = table.sustained_rate(GemmType::kBf16)->value;
  EXPECT_NEAR(sustained / 989e12, 0.71, 0.01);
  const auto rate = [&](std::int64_t m, std::int64_t k, std::int64_t n, Clock clock) {
    return 2.0 * double(m * n) * double(k) /
           table.gemm(GemmType::kBf16, m, k, n, clock)->time.value / 989e12;
  };
  EXPECT_NEAR(rate(4096, 4096, 11008, Clock::kBurst), 0.80, 0.01);
  EXPECT_NEAR(rate(4096, 4096, 11008, Clock::kSustained), 0.71, 0.01);
  // a shard of width 512 is slower than the power limit demands
  EXPECT_NEAR(rate(4096, 4096, 512, Clock::kSustained), 0.69, 0.01);
  // FlashAttention-3 causal, 32 heads of 128 at 4096 tokens; cuDNN, FlashAttention-2 behind it
  const AttentionShape shape{4096, 1, 32, 128};
  const auto tflops = [&](AttentionKernel kernel, bool backward) {
    return (backward ? 2.5 : 1) * 2.0 * 4096 * 4096 * 4096 /
           table.attention(kernel, backward, shape)->time.value / 1e12;
  };
  EXPECT_NEAR(tflops(kFlash3, false), 513, 5);
  EXPECT_NEAR(tflops(kCudnn, false), 490, 5);
  EXPECT_NEAR(tflops(kFlash2, false), 308, 5);
  EXPECT_NEAR(tflops(kFlash3, true), 436, 5);
  EXPECT_NEAR(tflops(kFlash2, true), 260, 5);
}

}  // namespace
}  // namespace amsp
