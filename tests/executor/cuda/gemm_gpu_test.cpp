#include "tests/executor/cuda/lab.h"

namespace amsp {
namespace {

using CudaGemm = Lab;

/// Small whole numbers: every sum is exact in fp32, so any order of sums gives these bits.
TEST_P(CudaGemm, IsExactOnWholeNumbersWithEveryTransposition) {
  const std::int64_t m = 24, n = 40, k = 56;
  for (const DType c_type : {grad_type(), type()})
    for (const bool transpose_a : {false, true})
      for (const bool transpose_b : {false, true})
        for (const bool accumulate : {false, true}) {
          const std::int64_t a_stride = (transpose_a ? m : k) + 8;
          const std::int64_t b_stride = (transpose_b ? k : n) + 8;
          const std::int64_t c_stride = n + 8;
          Values a(std::size_t((transpose_a ? k : m) * a_stride));
          Values b(std::size_t((transpose_b ? n : k) * b_stride));
          Values c(std::size_t(m * c_stride), 1.0);
          for (std::size_t i = 0; i < a.size(); ++i) a[i] = double(i % 3) - 1;
          for (std::size_t i = 0; i < b.size(); ++i) b[i] = double(i % 5 % 3) - 1;
          Values expected = c;
          for (int i = 0; i < m; ++i)
            for (int j = 0; j < n; ++j) {
              double sum = accumulate ? 1 : 0;
              for (int l = 0; l < k; ++l)
                sum += a[transpose_a ? l * a_stride + i : i * a_stride + l] *
                       b[transpose_b ? j * b_stride + l : l * b_stride + j];
              expected[i * c_stride + j] = sum;
            }
          void* out = put(c, c_type);
          run(Gemm{type(), c_type, m, n, k, put(a, type()), a_stride, transpose_a, put(b, type()),
                   b_stride, transpose_b, out, c_stride, accumulate});
          EXPECT_EQ(get(out, m * c_stride, c_type), expected)
              << transpose_a << transpose_b << accumulate;
        }
}

INSTANTIATE_TEST_SUITE_P(, CudaGemm, testing::ValuesIn(lab_cases()),
                         [](const auto& lab) { return lab.param.name; });

}  // namespace
}  // namespace amsp
