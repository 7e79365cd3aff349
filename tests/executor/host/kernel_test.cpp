#include "kernel_test.h"

#include <cmath>
#include <random>

#include "executor/host/kernels/bfloat16.h"

namespace amsp {

void* Buffer::at(std::int64_t first) const {
  return static_cast<char*>(data()) + first * size_of(type);
}

Values Buffer::values() const {
  std::vector<std::byte> bytes(n * size_of(type));
  const std::unique_ptr<Stream> stream = device->make_stream("read");
  device->download(*stream, bytes.data(), data(), bytes.size());
  stream->synchronize();
  Values result(n);
  for (std::int64_t i = 0; i < n; ++i) {
    switch (type) {
      case DType::kF64:
        result[i] = reinterpret_cast<const double*>(bytes.data())[i];
        break;
      case DType::kF32:
        result[i] = reinterpret_cast<const float*>(bytes.data())[i];
        break;
      case DType::kBf16:
        result[i] = to_float(reinterpret_cast<const host::Bf16*>(bytes.data())[i]);
        break;
      case DType::kI32:
        result[i] = reinterpret_cast<const std::int32_t*>(bytes.data())[i];
        break;
    }
  }
  return result;
}

Kernels::Kernels() : device_(make_test_device()), stream_(device_->make_stream("test")) {}

Buffer Kernels::make(DType type, const Values& values) {
  Buffer buffer = zeros(type, static_cast<std::int64_t>(values.size()));
  std::vector<std::byte> bytes(buffer.n * size_of(type));
  for (std::int64_t i = 0; i < buffer.n; ++i) {
    switch (type) {
      case DType::kF64:
        reinterpret_cast<double*>(bytes.data())[i] = values[i];
        break;
      case DType::kF32:
        reinterpret_cast<float*>(bytes.data())[i] = static_cast<float>(values[i]);
        break;
      case DType::kBf16:
        reinterpret_cast<host::Bf16*>(bytes.data())[i] =
            host::to_bf16(static_cast<float>(values[i]));
        break;
      case DType::kI32:
        reinterpret_cast<std::int32_t*>(bytes.data())[i] = static_cast<std::int32_t>(values[i]);
        break;
    }
  }
  device_->upload(*stream_, buffer.data(), bytes.data(), bytes.size());
  stream_->synchronize();
  return buffer;
}

Buffer Kernels::zeros(DType type, std::int64_t n) {
  return {type, n, device_->allocate(static_cast<std::size_t>(n * size_of(type))), device_.get()};
}

Buffer Kernels::random(DType type, std::int64_t n, unsigned seed) {
  return make(type, random_values(n, seed));
}

Values random_values(std::int64_t n, unsigned seed) {
  std::mt19937 generator(seed);
  Values values(n);
  for (double& value : values) value = std::ldexp(static_cast<double>(generator()), -31) - 1;
  return values;
}

double tolerance(DType type) {
  switch (type) {
    case DType::kF64:
      return 1e-14;
    case DType::kF32:
      return 2e-6;
    case DType::kBf16:
      return 1.0 / 256;
    case DType::kI32:
      break;
  }
  return 0;
}

void expect_close(const Values& actual, const Values& expected, double tolerance, double scale) {
  ASSERT_EQ(actual.size(), expected.size());
  int wrong = 0;
  for (std::size_t i = 0; i < actual.size(); ++i) {
    const double allowed = tolerance * (std::abs(expected[i]) + scale);
    if (std::abs(actual[i] - expected[i]) <= allowed) continue;
    if (++wrong <= 5) ADD_FAILURE() << "[" << i << "] is " << actual[i] << ", not " << expected[i];
  }
  EXPECT_EQ(wrong, 0) << "of " << actual.size();
}

void expect_gradient(const std::function<double(const Values&)>& f, const Values& x,
                     const Values& gradient) {
  constexpr double kStep = 1e-5;
  Values differences(x.size());
  Values at = x;
  for (std::size_t i = 0; i < x.size(); ++i) {
    at[i] = x[i] + kStep;
    const double above = f(at);
    at[i] = x[i] - kStep;
    differences[i] = (above - f(at)) / (2 * kStep);
    at[i] = x[i];
  }
  // The step's square and the rounding of f over the step.
  expect_close(gradient, differences, 2e-8);
}

double dot(const Values& a, const Values& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

std::string name_of(const testing::TestParamInfo<Types>& info) {
  const std::string type = to_string(info.param.type);
  return info.param.type == info.param.grad_type
             ? type
             : type + "_gradients_" + to_string(info.param.grad_type);
}

}  // namespace amsp
