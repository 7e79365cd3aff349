// Blocked attention with running softmax (Dao et al., arXiv 2205.14135, algorithm 1), a block of
// queries at a time.
#include <algorithm>
#include <cmath>
#include <limits>

#include "executor/host/kernels/blas.h"
#include "executor/host/kernels/heads.h"
#include "executor/host/kernels/kernels.h"
#include "executor/host/kernels/row_max.h"
#include "executor/host/kernels/scratch.h"

namespace amsp::host {
namespace {

/// Of one block of queries: sums over the keys seen so far, relative to exp(max).
template <typename W>
struct Running {
  W* max;
  W* sum;
  W* out;  // [rows, d]
};

/// Turns scores[rows, keys] into exponentials relative to the new maxima, and what was summed
/// before with them. Row i sees the first `seen` + i keys at most; the others become 0.
template <typename W>
AMSP_VECTOR_CLONES void softmax_tile(std::int64_t rows, std::int64_t keys, std::int64_t seen,
                                     std::int64_t d, W* scores, Running<W> running) {
  for (std::int64_t row = 0; row < rows; ++row) {
    W* const score = scores + row * keys;
    const std::int64_t n = std::clamp<std::int64_t>(seen + row, 0, keys);
    std::fill(score + n, score + keys, W(0));
    if (n == 0) continue;
    const W max = std::max(running.max[row], row_max(score, n));
    const W correction = std::exp(running.max[row] - max);
    W sum = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      score[i] = std::exp(score[i] - max);
      sum += score[i];
    }
    running.max[row] = max;
    running.sum[row] = running.sum[row] * correction + sum;
    W* const out = running.out + row * d;
    for (std::int64_t i = 0; i < d; ++i) out[i] *= correction;
  }
}

template <typename T>
class Forward {
 public:
  explicit Forward(const Attention& work) : work_(work), d_(work.head_dim), s_(work.sequence) {}

  void run() {
    const int group = work_.heads / work_.kv_heads;
    const T* const k = static_cast<const T*>(work_.k);
    const T* const v = static_cast<const T*>(work_.v);
    for (int sequence = 0; sequence < work_.batch; ++sequence)
      for (int kv_head = 0; kv_head < work_.kv_heads; ++kv_head) {
        const std::int64_t offset = sequence * s_ * work_.kv_stride + kv_head * d_;
        load_head(s_, d_, k + offset, work_.kv_stride, W(1), k_);
        load_head(s_, d_, v + offset, work_.kv_stride, W(1), v_);
        for (int head = kv_head * group; head < (kv_head + 1) * group; ++head)
          for (std::int64_t row = 0; row < s_; row += kQueryBlock)
            run_block(sequence, head, row, std::min(kQueryBlock, s_ - row));
      }
  }

 private:
  using W = Wide<T>;

  void run_block(std::int64_t sequence, std::int64_t head, std::int64_t first, std::int64_t rows) {
    const std::int64_t token = sequence * s_ + first;
    load_head(rows, d_, static_cast<const T*>(work_.q) + token * work_.q_stride + head * d_,
              work_.q_stride, W(1) / std::sqrt(static_cast<W>(d_)), q_);
    std::fill_n(running_.max, rows, -std::numeric_limits<W>::infinity());
    std::fill_n(running_.sum, rows, W(0));
    std::fill_n(running_.out, rows * d_, W(0));
    for (std::int64_t key = 0; key < first + rows; key += kKeyBlock) {
      const std::int64_t keys = std::min(kKeyBlock, first + rows - key);
      gemm(false, true, rows, keys, d_, q_, d_, k_ + key * d_, d_, W(0), scores_, keys);
      softmax_tile(rows, keys, first + 1 - key, d_, scores_, running_);
      gemm(false, false, rows, d_, keys, scores_, keys, v_ + key * d_, d_, W(1), running_.out, d_);
    }
    T* const out = static_cast<T*>(work_.out) + (token * work_.heads + head) * d_;
    W* const lse = static_cast<W*>(work_.lse) + (sequence * work_.heads + head) * s_ + first;
    for (std::int64_t row = 0; row < rows; ++row) {
      store_head(1, d_, running_.out + row * d_, W(1) / running_.sum[row],
                 out + row * work_.heads * d_, d_);
      lse[row] = running_.max[row] + std::log(running_.sum[row]);
    }
  }

  const Attention& work_;
  const std::int64_t d_, s_;
  Scratch scratch_;
  W* const k_ = scratch_.take<W>(s_ * d_);
  W* const v_ = scratch_.take<W>(s_ * d_);
  W* const q_ = scratch_.take<W>(kQueryBlock * d_);
  W* const scores_ = scratch_.take<W>(kQueryBlock * kKeyBlock);
  const Running<W> running_{scratch_.take<W>(kQueryBlock), scratch_.take<W>(kQueryBlock),
                            scratch_.take<W>(kQueryBlock* d_)};
};

}  // namespace

void run(const Attention& work) {
  AMSP_CHECK(work.heads % work.kv_heads == 0, "{} heads of queries share {} of keys", work.heads,
             work.kv_heads);
  with_type(work.type, [&](auto type) { Forward<decltype(type)>(work).run(); });
}

}  // namespace amsp::host
