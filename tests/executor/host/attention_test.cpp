#include <cmath>

#include "kernel_test.h"

namespace amsp {
namespace {

struct Shape {
  int batch, sequence, heads, kv_heads, dim;
  std::int64_t q_stride, kv_stride;

  std::int64_t tokens() const { return std::int64_t{1} * batch * sequence; }
  std::int64_t q_size() const { return tokens() * q_stride; }
  std::int64_t kv_size() const { return tokens() * kv_stride; }
  std::int64_t out_size() const { return tokens() * heads * dim; }
  std::int64_t lse_size() const { return tokens() * heads; }
  std::int64_t q_at(int sequence_of, int row, int head) const {
    return (std::int64_t{1} * sequence_of * sequence + row) * q_stride + head * dim;
  }
  std::int64_t kv_at(int sequence_of, int row, int head) const {
    return (std::int64_t{1} * sequence_of * sequence + row) * kv_stride +
           head / (heads / kv_heads) * dim;
  }
  std::int64_t out_at(int sequence_of, int row, int head) const {
    return ((std::int64_t{1} * sequence_of * sequence + row) * heads + head) * dim;
  }
};

/// Every pair of query and key by itself.
struct Reference {
  Values out, lse, dq, dk, dv;
};
Reference reference(const Shape& shape, const Values& q, const Values& k, const Values& v,
                    const Values& dout) {
  Reference result{Values(shape.out_size()), Values(shape.lse_size()), Values(q.size()),
                   Values(k.size()), Values(v.size())};
  const double scale = 1 / std::sqrt(shape.dim);
  for (int b = 0; b < shape.batch; ++b)
    for (int h = 0; h < shape.heads; ++h)
      for (int i = 0; i < shape.sequence; ++i) {
        const std::int64_t qi = shape.q_at(b, i, h), oi = shape.out_at(b, i, h);
        Values p(i + 1), dp(i + 1);
        double sum = 0;
        for (int j = 0; j <= i; ++j) {
          double score = 0;
          for (int d = 0; d < shape.dim; ++d) score += q[qi + d] * k[shape.kv_at(b, j, h) + d];
          p[j] = std::exp(score * scale);
          sum += p[j];
        }
        result.lse[(b * shape.heads + h) * shape.sequence + i] = std::log(sum);
        double row_sum = 0;
        for (int j = 0; j <= i; ++j) {
          p[j] /= sum;
          for (int d = 0; d < shape.dim; ++d) {
            const std::int64_t vj = shape.kv_at(b, j, h) + d;
            result.out[oi + d] += p[j] * v[vj];
            result.dv[vj] += p[j] * dout[oi + d];
            dp[j] += dout[oi + d] * v[vj];
          }
          row_sum += p[j] * dp[j];
        }
        for (int j = 0; j <= i; ++j) {
          const double ds = p[j] * (dp[j] - row_sum) * scale;
          for (int d = 0; d < shape.dim; ++d) {
            const std::int64_t kj = shape.kv_at(b, j, h) + d;
            result.dq[qi + d] += ds * k[kj];
            result.dk[kj] += ds * q[qi + d];
          }
        }
      }
  return result;
}

struct Tensors {
  Buffer q, k, v, out, lse, dout, dq, dk, dv;
};

class AttentionTest : public KernelTest {
 protected:
  Tensors tensors(const Shape& shape, DType type) {
    return {random(type, shape.q_size(), 1),     random(type, shape.kv_size(), 2),
            random(type, shape.kv_size(), 3),    zeros(type, shape.out_size()),
            zeros(wide(type), shape.lse_size()), random(type, shape.out_size(), 4),
            zeros(type, shape.q_size()),         zeros(type, shape.kv_size()),
            zeros(type, shape.kv_size())};
  }
  void forward(const Shape& shape, const Tensors& t) {
    run(Attention{t.q.type, shape.batch, shape.sequence, shape.heads, shape.kv_heads, shape.dim,
                  t.q.data(), shape.q_stride, t.k.data(), t.v.data(), shape.kv_stride, t.out.data(),
                  t.lse.data()});
  }
  void backward(const Shape& shape, const Tensors& t) {
    run(AttentionBackward{t.q.type, shape.batch, shape.sequence, shape.heads, shape.kv_heads,
                          shape.dim, t.q.data(), shape.q_stride, t.k.data(), t.v.data(),
                          shape.kv_stride, t.out.data(), t.lse.data(), t.dout.data(), t.dq.data(),
                          t.dk.data(), t.dv.data()});
  }
  void expect_reference(const Shape& shape) {
    const Tensors t = tensors(shape, type());
    forward(shape, t);
    backward(shape, t);
    const Reference expected =
        reference(shape, t.q.values(), t.k.values(), t.v.values(), t.dout.values());
    expect_close(t.out.values(), expected.out, tolerance(type()));
    expect_close(t.lse.values(), expected.lse, tolerance(wide(type())));
    expect_close(t.dq.values(), expected.dq, tolerance(type()), 2);
    expect_close(t.dk.values(), expected.dk, tolerance(type()), 2);
    expect_close(t.dv.values(), expected.dv, tolerance(type()), 2);
  }
};
AMSP_FOR_ALL_TYPES(AttentionTest);

TEST_P(AttentionTest, IsSoftmaxOfAllPairsAndItsGradients) {
  expect_reference({2, 13, 2, 2, 8, 16, 16});
}

TEST_P(AttentionTest, GroupedQueriesReadTheirHeadOfKeys) {
  expect_reference({1, 13, 6, 2, 8, 48, 16});
}

// As one product gives them: rows of q, k and v beside each other.
TEST_P(AttentionTest, HeedsStrides) {
  expect_reference({2, 13, 4, 2, 8, 70, 70});
}

// More than one block of queries and of keys, and not a multiple of either.
TEST_P(AttentionTest, IsRightBeyondOneTile) {
  expect_reference({1, 650, 2, 1, 16, 32, 16});
}

TEST_P(AttentionTest, OfOneTokenIsItsValue) {
  const Shape shape{3, 1, 2, 2, 4, 8, 8};
  const Tensors t = tensors(shape, type());
  forward(shape, t);
  EXPECT_EQ(t.out.values(), t.v.values());
}

// Scores beyond the range of exp: the softmax picks the largest.
TEST_P(AttentionTest, OfLargeScoresIsTheValueOfTheLargest) {
  const Shape shape{1, 3, 1, 1, 1, 1, 1};
  const Tensors t{make(type(), {100, 100, 100}),
                  make(type(), {-100, 100, 50}),
                  make(type(), {1, 2, 3}),
                  zeros(type(), 3),
                  zeros(wide(type()), 3),
                  {},
                  {},
                  {},
                  {}};
  forward(shape, t);
  EXPECT_EQ(t.out.values(), (Values{1, 2, 2}));
  EXPECT_EQ(t.lse.values(), (Values{-10000, 10000, 10000}));
}

class AttentionGradient : public AttentionTest {};
INSTANTIATE_TEST_SUITE_P(Fp64, AttentionGradient, testing::Values(Types{DType::kF64, DType::kF64}),
                         name_of);

TEST_P(AttentionGradient, MatchesFiniteDifferences) {
  const Shape shape{2, 5, 4, 2, 4, 18, 10};
  const Tensors t = tensors(shape, DType::kF64);
  forward(shape, t);
  backward(shape, t);
  const auto loss = [&](Buffer Tensors::*which) {
    return [&, which](const Values& at) {
      Tensors moved = t;
      moved.*which = make(DType::kF64, at);
      moved.out = zeros(DType::kF64, shape.out_size());
      moved.lse = zeros(DType::kF64, shape.lse_size());
      forward(shape, moved);
      return dot(moved.out.values(), t.dout.values());
    };
  };
  expect_gradient(loss(&Tensors::q), t.q.values(), t.dq.values());
  expect_gradient(loss(&Tensors::k), t.k.values(), t.dk.values());
  expect_gradient(loss(&Tensors::v), t.v.values(), t.dv.values());
}

}  // namespace
}  // namespace amsp
