#pragma once

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "tests/executor/cuda/device_under_test.h"

namespace amsp {

/// Storage type, type of gradients, and the order in which an emulator runs the threads of a block.
struct LabCase {
  const char* name;
  DType type, grad_type;
  bool descending;
};

inline std::vector<LabCase> lab_cases() {
  return {{"Bf16", DType::kBf16, DType::kBf16, false},
          {"Bf16WideGradients", DType::kBf16, DType::kF32, false},
          {"Fp32", DType::kF32, DType::kF32, false},
          {"Fp64", DType::kF64, DType::kF64, false},
          {"Bf16Descending", DType::kBf16, DType::kF32, true},
          {"Fp64Descending", DType::kF64, DType::kF64, true}};
}

/// Without those that differ in the type of gradients only.
inline std::vector<LabCase> lab_cases_by_type() {
  std::vector<LabCase> cases = lab_cases();
  std::erase_if(cases, [](const LabCase& lab) {
    return lab.type == DType::kBf16 && lab.grad_type == DType::kF32 && !lab.descending;
  });
  return cases;
}

/// Numbers as doubles on this side, in their storage type on the device.
class Lab : public testing::TestWithParam<LabCase> {
 protected:
  using Values = std::vector<double>;
  DType type() const { return GetParam().type; }
  DType grad_type() const { return GetParam().grad_type; }

  void SetUp() override {
    device_ = make_test_device();
    if (!set_descending_threads(GetParam().descending) && GetParam().descending)
      GTEST_SKIP() << "threads run in the machine's order";
    stream_ = device_->make_stream("compute");
  }

  static double rounded(double value, DType type) {
    if (type == DType::kF64) return value;
    const auto single = static_cast<float>(value);
    if (type == DType::kF32) return single;
    const auto bits = std::bit_cast<std::uint32_t>(single);
    return std::bit_cast<float>((bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000u);
  }
  /// Random numbers of magnitude about 1 that `type` can hold.
  Values random(std::int64_t n, DType type) {
    std::normal_distribution<double> normal;
    Values values(static_cast<std::size_t>(n));
    for (double& value : values) value = rounded(normal(random_), type);
    return values;
  }
  std::vector<std::int32_t> random_words(std::int64_t n, int vocab) {
    std::vector<std::int32_t> words(static_cast<std::size_t>(n));
    for (auto& word : words) word = static_cast<std::int32_t>(random_() % unsigned(vocab));
    return words;
  }

  void* put(const Values& values, DType type) {
    std::vector<unsigned char> bytes(values.size() * std::size_t(size_of(type)));
    for (std::size_t i = 0; i < values.size(); ++i) {
      const auto single = static_cast<float>(values[i]);
      const auto half = static_cast<std::uint16_t>(
          std::bit_cast<std::uint32_t>(static_cast<float>(rounded(values[i], DType::kBf16))) >> 16);
      if (type == DType::kF64) std::memcpy(&bytes[i * 8], &values[i], 8);
      if (type == DType::kF32) std::memcpy(&bytes[i * 4], &single, 4);
      if (type == DType::kBf16) std::memcpy(&bytes[i * 2], &half, 2);
    }
    return put_bytes(bytes.data(), bytes.size());
  }
  const std::int32_t* put(const std::vector<std::int32_t>& words) {
    return static_cast<const std::int32_t*>(put_bytes(words.data(), words.size() * 4));
  }
  /// Room for `n` elements that hold nonsense: what a kernel must overwrite.
  void* room(std::int64_t n, DType type) {
    return put(Values(static_cast<std::size_t>(n), 777.0), type);
  }
  Values get(const void* from, std::int64_t n, DType type) {
    std::vector<unsigned char> bytes(std::size_t(n * size_of(type)));
    device_->download(*stream_, bytes.data(), from, bytes.size());
    stream_->synchronize();
    Values values(static_cast<std::size_t>(n));
    for (std::size_t i = 0; i < values.size(); ++i) {
      float single = 0;
      std::uint16_t half = 0;
      if (type == DType::kF64) std::memcpy(&values[i], &bytes[i * 8], 8);
      if (type == DType::kF32) std::memcpy(&single, &bytes[i * 4], 4);
      if (type == DType::kBf16) {
        std::memcpy(&half, &bytes[i * 2], 2);
        single = std::bit_cast<float>(std::uint32_t{half} << 16);
      }
      if (type != DType::kF64) values[i] = single;
    }
    return values;
  }
  template <class Work>
  void run(const Work& work) {
    device_->run(*stream_, work);
    stream_->synchronize();
  }

  /// Relative to the largest expected magnitude: one rounding of `stored`, and `slack` times what
  /// sums of random numbers lose in the accumulator's type.
  static void expect_near(const Values& got, const Values& expected, DType stored, DType type,
                          double slack = 1) {
    ASSERT_EQ(got.size(), expected.size());
    const double accumulated = type == DType::kF64 ? 1e-13 : 1e-5;
    const double rounding = stored == DType::kBf16 ? 1.0 / 256 : 0;
    double scale = 0;
    for (const double value : expected) scale = std::max(scale, std::abs(value));
    for (std::size_t i = 0; i < got.size(); ++i)
      ASSERT_NEAR(got[i], expected[i],
                  slack * scale * accumulated + rounding * std::abs(expected[i]))
          << "element " << i;
  }

  std::unique_ptr<Device> device_;
  std::unique_ptr<Stream> stream_;

 private:
  void* put_bytes(const void* from, std::size_t bytes) {
    memory_.push_back(device_->allocate(std::max<std::size_t>(bytes, 1)));
    device_->upload(*stream_, memory_.back().get(), from, bytes);
    stream_->synchronize();
    return memory_.back().get();
  }

  std::vector<std::shared_ptr<void>> memory_;
  std::mt19937 random_{1};
};

}  // namespace amsp
