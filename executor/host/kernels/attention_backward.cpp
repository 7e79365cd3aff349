// Blocked backward of attention (Dao, arXiv 2307.08691, algorithm 2), a block of queries at a time:
// scores are computed again, and P = exp(scores - lse) needs no running maximum.
//   dV += P^T dO;  dS = P * (dO V^T - rowsum(dO * O));  dQ = dS K / sqrt(d);  dK += dS^T Q /
//   sqrt(d)
#include <algorithm>
#include <cmath>

#include "executor/host/kernels/blas.h"
#include "executor/host/kernels/heads.h"
#include "executor/host/kernels/kernels.h"
#include "executor/host/kernels/scratch.h"

namespace amsp::host {
namespace {

/// scores[rows, keys] becomes P; row i sees the first `seen` + i keys at most.
template <typename W>
AMSP_VECTOR_CLONES void probabilities(std::int64_t rows, std::int64_t keys, std::int64_t seen,
                                      const W* lse, W* scores) {
  for (std::int64_t row = 0; row < rows; ++row) {
    W* const score = scores + row * keys;
    const std::int64_t n = std::clamp<std::int64_t>(seen + row, 0, keys);
    const W minus = lse[row];
    for (std::int64_t i = 0; i < n; ++i) score[i] = std::exp(score[i] - minus);
    std::fill(score + n, score + keys, W(0));
  }
}

/// P becomes dS.
template <typename W>
AMSP_VECTOR_CLONES void score_gradients(std::int64_t rows, std::int64_t keys, const W* dp,
                                        const W* row_sums, W* p) {
  for (std::int64_t row = 0; row < rows; ++row) {
    const W minus = row_sums[row];
    for (std::int64_t i = row * keys; i < (row + 1) * keys; ++i) p[i] *= dp[i] - minus;
  }
}

template <typename T>
AMSP_VECTOR_CLONES void row_products(std::int64_t rows, std::int64_t d, const Wide<T>* dout,
                                     const T* out, std::int64_t out_stride, Wide<T>* sums) {
  for (std::int64_t row = 0; row < rows; ++row) {
    Wide<T> sum = 0;
    for (std::int64_t i = 0; i < d; ++i)
      sum += dout[row * d + i] * widen(out[row * out_stride + i]);
    sums[row] = sum;
  }
}

template <typename T>
class Backward {
 public:
  explicit Backward(const AttentionBackward& work)
      : work_(work), d_(work.head_dim), s_(work.sequence) {}

  void run() {
    const int group = work_.heads / work_.kv_heads;
    for (int sequence = 0; sequence < work_.batch; ++sequence)
      for (int kv_head = 0; kv_head < work_.kv_heads; ++kv_head) {
        const std::int64_t offset = sequence * s_ * work_.kv_stride + kv_head * d_;
        load_head(s_, d_, static_cast<const T*>(work_.k) + offset, work_.kv_stride, W(1), k_);
        load_head(s_, d_, static_cast<const T*>(work_.v) + offset, work_.kv_stride, W(1), v_);
        std::fill_n(dk_, s_ * d_, W(0));
        std::fill_n(dv_, s_ * d_, W(0));
        for (int head = kv_head * group; head < (kv_head + 1) * group; ++head)
          for (std::int64_t row = 0; row < s_; row += kQueryBlock)
            run_block(sequence, head, row, std::min(kQueryBlock, s_ - row));
        store_head(s_, d_, dk_, W(1), static_cast<T*>(work_.dk) + offset, work_.kv_stride);
        store_head(s_, d_, dv_, W(1), static_cast<T*>(work_.dv) + offset, work_.kv_stride);
      }
  }

 private:
  using W = Wide<T>;

  void run_block(std::int64_t sequence, std::int64_t head, std::int64_t first, std::int64_t rows) {
    const W scale = W(1) / std::sqrt(static_cast<W>(d_));
    const std::int64_t token = sequence * s_ + first;
    const std::int64_t q_offset = token * work_.q_stride + head * d_;
    const std::int64_t out_stride = work_.heads * d_;
    const std::int64_t out_offset = token * out_stride + head * d_;
    load_head(rows, d_, static_cast<const T*>(work_.q) + q_offset, work_.q_stride, scale, q_);
    load_head(rows, d_, static_cast<const T*>(work_.dout) + out_offset, out_stride, W(1), dout_);
    row_products(rows, d_, dout_, static_cast<const T*>(work_.out) + out_offset, out_stride,
                 row_sums_);
    const W* const lse =
        static_cast<const W*>(work_.lse) + (sequence * work_.heads + head) * s_ + first;
    for (std::int64_t key = 0; key < first + rows; key += kKeyBlock)
      run_tile(first, rows, key, std::min(kKeyBlock, first + rows - key), lse);
    store_head(rows, d_, dq_, scale, static_cast<T*>(work_.dq) + q_offset, work_.q_stride);
  }

  void run_tile(std::int64_t first, std::int64_t rows, std::int64_t key, std::int64_t keys,
                const W* lse) {
    const W* const k = k_ + key * d_;
    gemm(false, true, rows, keys, d_, q_, d_, k, d_, W(0), scores_, keys);
    probabilities(rows, keys, first + 1 - key, lse, scores_);
    gemm(true, false, keys, d_, rows, scores_, keys, dout_, d_, W(1), dv_ + key * d_, d_);
    gemm(false, true, rows, keys, d_, dout_, d_, v_ + key * d_, d_, W(0), dp_, keys);
    score_gradients(rows, keys, dp_, row_sums_, scores_);
    gemm(false, false, rows, d_, keys, scores_, keys, k, d_, key > 0 ? W(1) : W(0), dq_, d_);
    gemm(true, false, keys, d_, rows, scores_, keys, q_, d_, W(1), dk_ + key * d_, d_);
  }

  const AttentionBackward& work_;
  const std::int64_t d_, s_;
  Scratch scratch_;
  W* const k_ = scratch_.take<W>(s_ * d_);
  W* const v_ = scratch_.take<W>(s_ * d_);
  W* const dk_ = scratch_.take<W>(s_ * d_);
  W* const dv_ = scratch_.take<W>(s_ * d_);
  W* const q_ = scratch_.take<W>(kQueryBlock * d_);
  W* const dq_ = scratch_.take<W>(kQueryBlock * d_);
  W* const dout_ = scratch_.take<W>(kQueryBlock * d_);
  W* const row_sums_ = scratch_.take<W>(kQueryBlock);
  W* const scores_ = scratch_.take<W>(kQueryBlock * kKeyBlock);
  W* const dp_ = scratch_.take<W>(kQueryBlock * kKeyBlock);
};

}  // namespace

void run(const AttentionBackward& work) {
  AMSP_CHECK(work.heads % work.kv_heads == 0, "{} heads of queries share {} of keys", work.heads,
             work.kv_heads);
  with_type(work.type, [&](auto type) { Backward<decltype(type)>(work).run(); });
}

}  // namespace amsp::host
