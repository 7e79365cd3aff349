#include <numeric>

#include "tests/executor/cuda/lab.h"

namespace amsp {
namespace {

using CudaKernels = Lab;

TEST_P(CudaKernels, AddBiasToEveryRow) {
  const std::int64_t rows = 5, n = 37, stride = 40;
  Values y = random(rows * stride, type());
  const Values bias = random(n, type());
  void* out = put(y, type());
  run(AddBias{type(), rows, n, out, stride, put(bias, type())});
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < n; ++c) y[r * stride + c] = rounded(y[r * stride + c] + bias[c], type());
  expect_near(get(out, rows * stride, type()), y, type(), type());
}

TEST_P(CudaKernels, ColumnSumOverwritesAndAccumulates) {
  const std::int64_t rows = 21, n = 70, stride = 80;
  const Values dy = random(rows * stride, type());
  void* in = put(dy, type());
  Values expected(n);
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < n; ++c) expected[c] += dy[r * stride + c];
  void* sum = room(n, grad_type());
  run(ColumnSum{type(), grad_type(), rows, n, in, stride, sum, false});
  expect_near(get(sum, n, grad_type()), expected, grad_type(), type());
  const Values before = get(sum, n, grad_type());
  run(ColumnSum{type(), grad_type(), rows, n, in, stride, sum, true});
  for (int c = 0; c < n; ++c) expected[c] += before[c];
  expect_near(get(sum, n, grad_type()), expected, grad_type(), type());
}

TEST_P(CudaKernels, RmsNormForwardAndBackward) {
  const std::int64_t rows = 6, n = 300;
  const double eps = 1e-5;
  const Values x = random(rows * n, type());
  const Values weight = random(n, type());
  const Values dy = random(rows * n, type());
  Values y(rows * n), rstd(rows), dx(rows * n), dweight(n, 2.0);
  for (int r = 0; r < rows; ++r) {
    double squares = 0, dot = 0;
    for (int c = 0; c < n; ++c) squares += x[r * n + c] * x[r * n + c];
    rstd[r] = 1 / std::sqrt(squares / n + eps);
    for (int c = 0; c < n; ++c) {
      y[r * n + c] = x[r * n + c] * rstd[r] * weight[c];
      dot += dy[r * n + c] * weight[c] * x[r * n + c];
      dweight[c] += dy[r * n + c] * x[r * n + c] * rstd[r];
    }
    for (int c = 0; c < n; ++c)
      dx[r * n + c] = rstd[r] * dy[r * n + c] * weight[c] -
                      x[r * n + c] * rstd[r] * rstd[r] * rstd[r] / n * dot;
  }
  void* x_in = put(x, type());
  void* w_in = put(weight, type());
  void* out = room(rows * n, type());
  void* kept = room(rows, wide(type()));
  run(RmsNorm{type(), rows, n, eps, x_in, w_in, out, kept});
  expect_near(get(out, rows * n, type()), y, type(), type());
  expect_near(get(kept, rows, wide(type())), rstd, wide(type()), type());

  void* dx_out = room(rows * n, type());
  void* dw_out = put(Values(n, 2.0), grad_type());
  run(RmsNormBackward{type(), grad_type(), rows, n, put(dy, type()), x_in, w_in, kept, dx_out,
                      dw_out, true});
  expect_near(get(dx_out, rows * n, type()), dx, type(), type());
  expect_near(get(dw_out, n, grad_type()), dweight, grad_type(), type());
}

TEST_P(CudaKernels, RotaryTurnsPairsByPositionAndBack) {
  const int batch = 2, sequence = 5, heads = 3, d = 8;
  const std::int64_t stride = heads * d + 4;
  const double theta = 10000;
  const Values x = random(batch * sequence * stride, type());
  Values turned = x;
  for (int t = 0; t < batch * sequence; ++t)
    for (int head = 0; head < heads; ++head)
      for (int i = 0; i < d / 2; ++i) {
        const double angle = t % sequence * std::pow(theta, -2.0 * i / d);
        const std::int64_t a = t * stride + head * d + i, b = a + d / 2;
        turned[a] = x[a] * std::cos(angle) - x[b] * std::sin(angle);
        turned[b] = x[a] * std::sin(angle) + x[b] * std::cos(angle);
      }
  void* in_place = put(x, type());
  Rotary work{type(), batch, sequence, heads, d, theta, in_place, stride, false};
  run(work);
  expect_near(get(in_place, batch * sequence * stride, type()), turned, type(), type());
  work.inverse = true;
  run(work);
  const Values back = get(in_place, batch * sequence * stride, type());
  for (std::size_t i = 0; i < x.size(); ++i)
    ASSERT_NEAR(back[i], x[i], type() == DType::kBf16 ? 0.03 : 1e-6);
}

TEST_P(CudaKernels, SwiGluForwardAndBackwardInPlace) {
  const std::int64_t rows = 4, n = 50, stride = 100;
  const Values both = random(rows * stride, type());
  const Values dy = random(rows * n, type());
  Values y(rows * n), d_both(rows * stride);
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < n; ++c) {
      const double g = both[r * stride + c], u = both[r * stride + n + c];
      const double s = 1 / (1 + std::exp(-g));
      y[r * n + c] = g * s * u;
      d_both[r * stride + c] = dy[r * n + c] * u * (s + g * s * (1 - s));
      d_both[r * stride + n + c] = dy[r * n + c] * g * s;
    }
  void* gate = put(both, type());
  void* up = static_cast<char*>(gate) + n * size_of(type());
  void* out = room(rows * n, type());
  run(SwiGlu{type(), rows, n, gate, up, stride, out});
  expect_near(get(out, rows * n, type()), y, type(), type());
  run(SwiGluBackward{type(), rows, n, gate, up, stride, put(dy, type()), gate, up});
  expect_near(get(gate, rows * stride, type()), d_both, type(), type());
}

TEST_P(CudaKernels, EmbeddingGathersAndItsBackwardSumsByWord) {
  // 1,100 columns are two blocks; 300 tokens are two steps.
  const std::int64_t rows = 300, n = 1100, vocab = 7;
  std::vector<std::int32_t> words = random_words(rows, 6);  // word 6 never occurs
  const Values table = random(vocab * n, type());
  const std::int32_t* tokens = put(words);
  void* out = room(rows * n, type());
  run(Embedding{type(), rows, n, tokens, put(table, type()), out});
  Values expected(rows * n);
  for (int t = 0; t < rows; ++t)
    for (int c = 0; c < n; ++c) expected[t * n + c] = table[words[t] * n + c];
  EXPECT_EQ(get(out, rows * n, type()), expected);

  const Values dout = random(rows * n, type());
  Values sums(vocab * n);
  for (int t = 0; t < rows; ++t)
    for (int c = 0; c < n; ++c) sums[words[t] * n + c] += dout[t * n + c];
  void* din = put(dout, type());
  void* dtable = room(vocab * n, grad_type());
  run(EmbeddingBackward{type(), grad_type(), rows, n, vocab, tokens, din, dtable, false});
  expect_near(get(dtable, vocab * n, grad_type()), sums, grad_type(), type());
  dtable = put(Values(vocab * n, 3.0), grad_type());
  run(EmbeddingBackward{type(), grad_type(), rows, n, vocab, tokens, din, dtable, true});
  for (double& value : sums) value += 3;
  expect_near(get(dtable, vocab * n, grad_type()), sums, grad_type(), type());
}

TEST_P(CudaKernels, CrossEntropyForwardAndBackward) {
  const std::int64_t rows = 9, vocab = 600;
  const Values logits = random(rows * vocab, type());
  const std::vector<std::int32_t> words = random_words(rows, int(vocab));
  Values lse(rows), d(rows * vocab);
  double loss = 0;
  for (int r = 0; r < rows; ++r) {
    double sum = 0;
    for (int v = 0; v < vocab; ++v) sum += std::exp(logits[r * vocab + v]);
    lse[r] = std::log(sum);
    loss += (lse[r] - logits[r * vocab + words[r]]) / rows;
    for (int v = 0; v < vocab; ++v)
      d[r * vocab + v] = (std::exp(logits[r * vocab + v]) / sum - (v == words[r])) / rows;
  }
  void* in = put(logits, type());
  const std::int32_t* targets = put(words);
  void* loss_out = room(1, wide(type()));
  void* lse_out = room(rows, wide(type()));
  run(CrossEntropy{type(), rows, vocab, in, targets, loss_out, lse_out});
  expect_near(get(lse_out, rows, wide(type())), lse, wide(type()), type());
  expect_near(get(loss_out, 1, wide(type())), {loss}, wide(type()), type());
  run(CrossEntropyBackward{type(), rows, vocab, in, targets, lse_out});
  expect_near(get(in, rows * vocab, type()), d, type(), type());
}

TEST_P(CudaKernels, AddInPlace) {
  const Values a = random(1000, type()), b = random(1000, type());
  void* y = put(a, type());
  run(Add{type(), 1000, y, put(b, type()), y});
  Values expected(1000);
  for (int i = 0; i < 1000; ++i) expected[i] = rounded(a[i] + b[i], type());
  EXPECT_EQ(get(y, 1000, type()), expected);
}

TEST_P(CudaKernels, ConvertRoundsOnceAndAccumulates) {
  for (const DType to : {DType::kBf16, DType::kF32, DType::kF64}) {
    const Values from = random(300, type()), old = random(300, to);
    void* out = put(old, to);
    run(Convert{300, type(), put(from, type()), to, out, false});
    Values expected = from;
    for (double& value : expected) value = rounded(value, to);
    EXPECT_EQ(get(out, 300, to), expected) << to_string(to);
    out = put(old, to);
    run(Convert{300, type(), put(from, type()), to, out, true});
    for (int i = 0; i < 300; ++i) expected[i] = old[i] + from[i];
    expect_near(get(out, 300, to), expected, to, to == DType::kF64 ? DType::kF64 : DType::kF32);
  }
}

TEST_P(CudaKernels, ConvertCopiesIntegers) {
  const std::vector<std::int32_t> words = random_words(100, 1 << 30);
  void* out = room(100, DType::kF32);
  run(Convert{100, DType::kI32, put(words), DType::kI32, out, false});
  std::vector<std::int32_t> got(100);
  device_->download(*stream_, got.data(), out, 400);
  stream_->synchronize();
  EXPECT_EQ(got, words);
}

TEST_P(CudaKernels, SumOfSquaresOverManyParts) {
  // The second part has two chunks.
  const std::int64_t sizes[] = {10, (1 << 15) + 5, 0, 300};
  std::vector<GradPart> parts;
  double expected = 0;
  for (const std::int64_t n : sizes) {
    const Values grad = random(n, grad_type());
    for (const double g : grad) expected += g * g;
    parts.push_back({put(grad, grad_type()), n});
  }
  void* sum = room(1, wide(grad_type()));
  run(SumOfSquares{grad_type(), wide(grad_type()), parts, sum});
  expect_near(get(sum, 1, wide(grad_type())), {expected}, wide(grad_type()), type());
  run(SumOfSquares{grad_type(), wide(grad_type()), {}, sum});
  EXPECT_EQ(get(sum, 1, wide(grad_type())), Values{0});
}

TEST_P(CudaKernels, AdamWWithClippingAndWithoutDecayWhereToldSo) {
  const DType w = wide(type());
  const std::int64_t sizes[] = {100, 40};
  const double rate = 0.01, b1 = 0.9, b2 = 0.95, eps = 1e-8, decay = 0.1, scale = 0.5, most = 1;
  struct Host {
    Values master, m, v, grad;
  };
  std::vector<Host> host;
  std::vector<AdamWPart> parts;
  double squares = 0;
  for (const std::int64_t n : sizes) {
    Host part{random(n, w), random(n, w), random(n, w), random(n, grad_type())};
    for (double& value : part.v) value = std::abs(value);
    for (const double g : part.grad) squares += g * g;
    parts.push_back({put(part.master, w), put(part.m, w), put(part.v, w),
                     put(part.grad, grad_type()), room(n, type()), n, parts.empty()});
    host.push_back(part);
  }
  const double factor = scale * std::min(1.0, most / (scale * std::sqrt(squares) + 1e-6));
  ASSERT_LT(factor, scale);
  run(AdamW{type(), grad_type(), parts, rate, b1, b2, eps, decay, 3, scale, most,
            put({squares}, w)});
  for (std::size_t k = 0; k < host.size(); ++k) {
    Host& part = host[k];
    for (std::size_t i = 0; i < part.grad.size(); ++i) {
      const double g = part.grad[i] * factor;
      part.m[i] = b1 * part.m[i] + (1 - b1) * g;
      part.v[i] = b2 * part.v[i] + (1 - b2) * g * g;
      part.master[i] -= rate * (part.m[i] / (1 - std::pow(b1, 3)) /
                                    (std::sqrt(part.v[i] / (1 - std::pow(b2, 3))) + eps) +
                                (k == 0 ? decay : 0) * part.master[i]);
    }
    const auto n = static_cast<std::int64_t>(part.grad.size());
    expect_near(get(parts[k].master, n, w), part.master, w, type());
    expect_near(get(parts[k].m, n, w), part.m, w, type());
    expect_near(get(parts[k].v, n, w), part.v, w, type());
    expect_near(get(parts[k].param, n, type()), part.master, type(), type());
  }
}

INSTANTIATE_TEST_SUITE_P(, CudaKernels, testing::ValuesIn(lab_cases()),
                         [](const auto& lab) { return lab.param.name; });

}  // namespace
}  // namespace amsp
