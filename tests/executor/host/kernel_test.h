#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "executor/interface/device.h"

namespace amsp {

using Values = std::vector<double>;

/// The device that this program tests.
std::unique_ptr<Device> make_test_device();

/// Numbers in memory of a device, in one of its types.
struct Buffer {
  DType type;
  std::int64_t n;
  std::shared_ptr<void> memory;
  Device* device;

  void* data() const { return memory.get(); }
  /// From element `first` on.
  void* at(std::int64_t first) const;
  std::int32_t* tokens() const { return static_cast<std::int32_t*>(data()); }
  Values values() const;
};

/// A device with a stream, and what tests of kernels need around them.
class Kernels {
 public:
  Kernels();
  /// The values are rounded to the type.
  Buffer make(DType type, const Values& values);
  Buffer zeros(DType type, std::int64_t n);
  /// Numbers in [-1, 1), always the same for the same n and seed.
  Buffer random(DType type, std::int64_t n, unsigned seed);
  template <typename Work>
  void run(const Work& work) {
    device_->run(*stream_, work);
    stream_->synchronize();
  }
  Device& device() { return *device_; }
  Stream& stream() { return *stream_; }

 private:
  std::unique_ptr<Device> device_;
  std::unique_ptr<Stream> stream_;
};

Values random_values(std::int64_t n, unsigned seed);

/// What a result of this type may be off by, for values of about 1: rounding of the result and of
/// the sums in it.
double tolerance(DType type);
/// |actual - expected| <= tolerance * (|expected| + scale), everywhere.
void expect_close(const Values& actual, const Values& expected, double tolerance, double scale = 1);
/// Central differences of `f` at `x`, against `gradient`.
void expect_gradient(const std::function<double(const Values&)>& f, const Values& x,
                     const Values& gradient);
/// sum of a[i] b[i]: makes a number of an output, whose gradient by the output is b.
double dot(const Values& a, const Values& b);

struct Types {
  DType type, grad_type;
};
std::string name_of(const testing::TestParamInfo<Types>& info);

class KernelTest : public testing::TestWithParam<Types>, public Kernels {
 protected:
  DType type() const { return GetParam().type; }
  DType grad_type() const { return GetParam().grad_type; }
};

#define AMSP_FOR_ALL_TYPES(suite)                                                           \
  INSTANTIATE_TEST_SUITE_P(                                                                 \
      Types, suite,                                                                         \
      testing::Values(Types{DType::kF64, DType::kF64}, Types{DType::kF32, DType::kF32},     \
                      Types{DType::kBf16, DType::kBf16}, Types{DType::kBf16, DType::kF32}), \
      name_of)

}  // namespace amsp
