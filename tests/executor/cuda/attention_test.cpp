#include "tests/executor/cuda/lab.h"

namespace amsp {
namespace {

struct AttentionShape {
  int batch, sequence, heads, kv_heads, head_dim;
};
/// One tile and less; several with a ragged end; heads of every padding and one of odd size; one
/// block of fused q, k, v whose rows are not aligned to 16 bytes.
constexpr AttentionShape kShapes[] = {{1, 1, 1, 1, 8},    {2, 17, 2, 1, 24}, {1, 20, 2, 2, 5},
                                      {1, 150, 2, 2, 64}, {1, 70, 4, 2, 80}, {1, 129, 1, 1, 128}};

class CudaAttention : public Lab {
 protected:
  struct Tensors {
    Values q, k, v, dout;         // with the strides below
    Values out, lse, dq, dk, dv;  // dout, out: stride heads * d
    std::int64_t q_stride, kv_stride, q_size, kv_size, out_size;
  };

  /// Straight from the definition, in fp64.
  Tensors reference(const AttentionShape& s, std::int64_t padding) {
    const int d = s.head_dim, tokens = s.batch * s.sequence;
    Tensors t;
    t.q_stride = s.heads * d + padding;
    t.kv_stride = s.kv_heads * d + padding;
    t.q_size = tokens * t.q_stride;
    t.kv_size = tokens * t.kv_stride;
    t.out_size = std::int64_t{tokens} * s.heads * d;
    t.q = random(t.q_size, type());
    t.k = random(t.kv_size, type());
    t.v = random(t.kv_size, type());
    t.dout = random(t.out_size, type());
    t.out.resize(t.out_size);
    t.lse.resize(std::size_t(s.batch * s.heads * s.sequence));
    t.dq.resize(t.q_size);
    t.dk.resize(t.kv_size);
    t.dv.resize(t.kv_size);
    const double scale = 1 / std::sqrt(d);
    for (int b = 0; b < s.batch; ++b)
      for (int h = 0; h < s.heads; ++h)
        for (int i = 0; i < s.sequence; ++i) {
          const double* q = &t.q[(b * s.sequence + i) * t.q_stride + h * d];
          const std::int64_t kv = b * s.sequence * t.kv_stride + h / (s.heads / s.kv_heads) * d;
          const std::int64_t out = (std::int64_t(b * s.sequence + i) * s.heads + h) * d;
          Values p(i + 1);
          double sum = 0;
          for (int j = 0; j <= i; ++j) {
            double score = 0;
            for (int c = 0; c < d; ++c) score += q[c] * t.k[kv + j * t.kv_stride + c];
            sum += p[j] = std::exp(score * scale);
          }
          t.lse[(b * s.heads + h) * s.sequence + i] = std::log(sum);
          double delta = 0;
          for (int c = 0; c < d; ++c) {
            for (int j = 0; j <= i; ++j)
              t.out[out + c] += p[j] / sum * t.v[kv + j * t.kv_stride + c];
            delta += t.out[out + c] * t.dout[out + c];
          }
          for (int j = 0; j <= i; ++j) {
            double dp = 0;
            for (int c = 0; c < d; ++c) dp += t.dout[out + c] * t.v[kv + j * t.kv_stride + c];
            const double ds = p[j] / sum * (dp - delta) * scale;
            for (int c = 0; c < d; ++c) {
              t.dq[(b * s.sequence + i) * t.q_stride + h * d + c] +=
                  ds * t.k[kv + j * t.kv_stride + c];
              t.dk[kv + j * t.kv_stride + c] += ds * q[c];
              t.dv[kv + j * t.kv_stride + c] += p[j] / sum * t.dout[out + c];
            }
          }
        }
    return t;
  }

  /// bf16 rounds probabilities and gradients of scores before they are multiplied: errors of 2^-9
  /// of the terms, not of the result.
  void expect_close(const Values& got, const Values& expected, DType stored) {
    expect_near(got, expected, stored, type(), type() == DType::kBf16 ? 1500 : 5);
  }

  void check(const AttentionShape& s, std::int64_t padding) {
    const Tensors t = reference(s, padding);
    void* q = put(t.q, type());
    void* k = put(t.k, type());
    void* v = put(t.v, type());
    void* out = room(t.out_size, type());
    void* lse = room(std::int64_t(t.lse.size()), wide(type()));
    run(Attention{type(), s.batch, s.sequence, s.heads, s.kv_heads, s.head_dim, q, t.q_stride, k, v,
                  t.kv_stride, out, lse});
    expect_close(get(out, t.out_size, type()), t.out, type());
    expect_near(get(lse, std::int64_t(t.lse.size()), wide(type())), t.lse, wide(type()), type());

    void* dq = put(Values(t.dq.size()), type());
    void* dk = put(Values(t.dk.size()), type());
    void* dv = put(Values(t.dv.size()), type());
    run(AttentionBackward{type(), s.batch, s.sequence, s.heads, s.kv_heads, s.head_dim, q,
                          t.q_stride, k, v, t.kv_stride, out, lse, put(t.dout, type()), dq, dk,
                          dv});
    expect_close(get(dq, t.q_size, type()), t.dq, type());
    expect_close(get(dk, t.kv_size, type()), t.dk, type());
    expect_close(get(dv, t.kv_size, type()), t.dv, type());
  }
};

TEST_P(CudaAttention, EqualsTheDefinition) {
  for (const AttentionShape& shape : kShapes)
    for (const std::int64_t padding : {0, 3}) {
      SCOPED_TRACE(testing::Message() << "sequence " << shape.sequence << ", head "
                                      << shape.head_dim << ", padding " << padding);
      check(shape, padding);
      if (HasFatalFailure()) return;
    }
}

TEST_P(CudaAttention, RefusesHeadsItCannotDo) {
  EXPECT_ANY_THROW(run(
      Attention{type(), 1, 4, 1, 1, 129, nullptr, 129, nullptr, nullptr, 129, nullptr, nullptr}));
}

INSTANTIATE_TEST_SUITE_P(, CudaAttention, testing::ValuesIn(lab_cases_by_type()),
                         [](const auto& lab) { return lab.param.name; });

}  // namespace
}  // namespace amsp
