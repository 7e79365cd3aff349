#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "executor/interface/dtype.h"
#include "executor/interface/kernel_run.h"
#include "executor/interface/stream.h"

namespace amsp {

// Arguments of kernels. Matrices are row-major; a stride is the distance of two rows in elements.
// T: tokens of a micro-batch (b sequences of S). Pointers are into memory of the device and stay
// valid until the work is done. `type` is the storage type of activations and parameters; "wide"
// is wide(type); `grad_type` is that of gradients. With `accumulate` an output is added to, in its
// own type, else overwritten.

/// C[m, n] = op(A)[m, k] op(B)[k, n]; a transposed A is stored [k, m], a transposed B [n, k].
struct Gemm {
  DType type;
  DType c_type;
  std::int64_t m, n, k;
  const void* a;
  std::int64_t a_stride;
  bool transpose_a;
  const void* b;
  std::int64_t b_stride;
  bool transpose_b;
  void* c;
  std::int64_t c_stride;
  bool accumulate;
};

/// Adds bias[n] to every row of y[rows, n].
struct AddBias {
  DType type;
  std::int64_t rows, n;
  void* y;
  std::int64_t stride;
  const void* bias;
};

/// sum[n] (of grad_type) = column sums of dy[rows, n].
struct ColumnSum {
  DType type, grad_type;
  std::int64_t rows, n;
  const void* dy;
  std::int64_t stride;
  void* sum;
  bool accumulate;
};

/// y[T, h] = x / sqrt(mean(x^2) + eps) * weight; keeps rstd[T] = 1 / sqrt(...), wide.
struct RmsNorm {
  DType type;
  std::int64_t rows, n;
  double eps;
  const void* x;
  const void* weight;
  void* y;
  void* rstd;
};
/// dx[T, h] from dy, overwritten; dweight[h] of grad_type.
struct RmsNormBackward {
  DType type, grad_type;
  std::int64_t rows, n;
  const void* dy;
  const void* x;
  const void* weight;
  const void* rstd;
  void* dx;
  void* dweight;
  bool accumulate;
};

/// Rotates x[T, heads * d] in place by its position inside its sequence: pair (i, i + d/2) of a
/// head by position * theta^(-2i/d) (LLaMA's halves). `inverse` turns back: the backward.
struct Rotary {
  DType type;
  int batch, sequence, heads, head_dim;
  double theta;
  void* x;
  std::int64_t stride;
  bool inverse;
};

/// Causal attention with grouped queries: head i of q reads head i / (heads / kv_heads) of k and
/// v. out[T, heads * d] = softmax(q k^T / sqrt(d)) v; lse[b, heads, S], wide: log of the sum of
/// exponentials of the scaled scores.
struct Attention {
  DType type;
  int batch, sequence, heads, kv_heads, head_dim;
  const void* q;
  std::int64_t q_stride;
  const void* k;
  const void* v;
  std::int64_t kv_stride;
  void* out;  // stride heads * d
  void* lse;
};
/// dq, dk, dv with the strides of q, k, v; overwritten. `out`, `dout`: stride heads * d.
struct AttentionBackward {
  DType type;
  int batch, sequence, heads, kv_heads, head_dim;
  const void* q;
  std::int64_t q_stride;
  const void* k;
  const void* v;
  std::int64_t kv_stride;
  const void* out;
  const void* lse;
  const void* dout;
  void* dq;
  void* dk;
  void* dv;
};

/// y[rows, n] = gate / (1 + exp(-gate)) * up. gate and up have `stride`, y has stride n.
struct SwiGlu {
  DType type;
  std::int64_t rows, n;
  const void* gate;
  const void* up;
  std::int64_t stride;
  void* y;
};
/// dgate, dup with `stride`; overwritten. They may be gate and up themselves.
struct SwiGluBackward {
  DType type;
  std::int64_t rows, n;
  const void* gate;
  const void* up;
  std::int64_t stride;
  const void* dy;
  void* dgate;
  void* dup;
};

/// out[T, h] = table[tokens[t], :]; tokens: int32.
struct Embedding {
  DType type;
  std::int64_t rows, n;
  const std::int32_t* tokens;
  const void* table;
  void* out;
};
/// dtable[vocab, h] of grad_type = sum over t of dout[t] into row tokens[t], by ascending t.
struct EmbeddingBackward {
  DType type, grad_type;
  std::int64_t rows, n, vocab;
  const std::int32_t* tokens;
  const void* dout;
  void* dtable;
  bool accumulate;
};

/// loss (one wide number) = mean over t of lse[t] - logits[t, targets[t]]; keeps lse[T], wide.
struct CrossEntropy {
  DType type;
  std::int64_t rows, vocab;
  const void* logits;
  const std::int32_t* targets;
  void* loss;
  void* lse;
};
/// logits[t, v] becomes (exp(logits[t, v] - lse[t]) - [v = targets[t]]) / T.
struct CrossEntropyBackward {
  DType type;
  std::int64_t rows, vocab;
  void* logits;
  const std::int32_t* targets;
  const void* lse;
};

/// y[n] = a + b; y may be a or b.
struct Add {
  DType type;
  std::int64_t n;
  const void* a;
  const void* b;
  void* y;
};

/// to[n] = (accumulate ? to : 0) + from[n], between storage types. kI32 only to kI32, without
/// accumulate.
struct Convert {
  std::int64_t n;
  DType from_type;
  const void* from;
  DType to_type;
  void* to;
  bool accumulate;
};

/// A contiguous run of elements in gradients.
struct GradPart {
  const void* grad;
  std::int64_t n;
};
/// sum (one wide number, of `wide`) = sum of squares of all parts.
struct SumOfSquares {
  DType grad_type, wide;
  std::span<const GradPart> parts;
  void* sum;
};

/// One owned part of the optimizer's states: master, first and second moment are wide.
struct AdamWPart {
  void* master;
  void* m;
  void* v;
  const void* grad;  // of grad_type
  void* param;       // of type: gets the rounded master
  std::int64_t n;
  bool decay;
};
/// AdamW with decoupled weight decay (Loshchilov and Hutter, arXiv 1711.05101, algorithm 2), g
/// the gradient times `grad_scale`, times min(1, max_norm / (norm + 1e-6)) if max_norm > 0, norm =
/// grad_scale * sqrt(*sum_of_squares):
///   m = b1 m + (1-b1) g;  v = b2 v + (1-b2) g^2
///   master -= lr * (m / (1-b1^step) / (sqrt(v / (1-b2^step)) + eps) + decay * master)
struct AdamW {
  DType type, grad_type;
  std::span<const AdamWPart> parts;
  double learning_rate, beta1, beta2, eps, weight_decay;
  std::int64_t step;  // from 1
  double grad_scale;
  double max_norm;             // 0: no clipping
  const void* sum_of_squares;  // wide; null without clipping
};

/// A machine that runs streams of kernels: what the executor's runtime needs of it and no more.
/// Kernels are enqueued on a stream and return at once; what `span`s point to must stay until the
/// work is done. Kernels give the same bits for the same input, whatever else runs. Thread-safe but
/// for one stream used by two threads.
class Device {
 public:
  virtual ~Device() = default;
  /// "host", "cuda". What it is, for reports: "Intel ... , OpenBLAS 0.3.21, 1 thread".
  virtual std::string name() const = 0;
  virtual std::string description() const = 0;
  /// Throws ConfigError, naming what is supported, if kernels don't exist for this storage type and
  /// type of gradients.
  virtual void require(DType type, DType grad_type) const = 0;

  /// From now on the device records every kernel, copy and fill of its streams. Until then this
  /// costs nothing. Throws ConfigError where this build can't, DeviceError where the machine
  /// refuses; both name the reason.
  virtual void start_recording_kernels() = 0;
  /// What was recorded since the last call and has ended. Requires start_recording_kernels(). All
  /// that ended before a point that a caller has waited for is handed out by this call or, where a
  /// profiler is slow to deliver, by a later one. Throws DeviceError if the profiler fails.
  virtual KernelRuns take_kernels() = 0;

  virtual std::unique_ptr<Stream> make_stream(const std::string& name) = 0;
  virtual std::unique_ptr<Event> make_event() = 0;
  /// Memory of the device, zeroed, aligned to 256 bytes; freed with the returned owner. Throws
  /// DeviceError, with the sizes, if there isn't as much.
  virtual std::shared_ptr<void> allocate(std::size_t bytes) = 0;
  /// `host` must stay until the work is done.
  virtual void upload(Stream& stream, void* to, const void* host, std::size_t bytes) = 0;
  virtual void download(Stream& stream, void* host, const void* from, std::size_t bytes) = 0;
  virtual void zero(Stream& stream, void* to, std::size_t bytes) = 0;

  virtual void run(Stream& stream, const Gemm& work) = 0;
  virtual void run(Stream& stream, const AddBias& work) = 0;
  virtual void run(Stream& stream, const ColumnSum& work) = 0;
  virtual void run(Stream& stream, const RmsNorm& work) = 0;
  virtual void run(Stream& stream, const RmsNormBackward& work) = 0;
  virtual void run(Stream& stream, const Rotary& work) = 0;
  virtual void run(Stream& stream, const Attention& work) = 0;
  virtual void run(Stream& stream, const AttentionBackward& work) = 0;
  virtual void run(Stream& stream, const SwiGlu& work) = 0;
  virtual void run(Stream& stream, const SwiGluBackward& work) = 0;
  virtual void run(Stream& stream, const Embedding& work) = 0;
  virtual void run(Stream& stream, const EmbeddingBackward& work) = 0;
  virtual void run(Stream& stream, const CrossEntropy& work) = 0;
  virtual void run(Stream& stream, const CrossEntropyBackward& work) = 0;
  virtual void run(Stream& stream, const Add& work) = 0;
  virtual void run(Stream& stream, const Convert& work) = 0;
  virtual void run(Stream& stream, const SumOfSquares& work) = 0;
  virtual void run(Stream& stream, const AdamW& work) = 0;
};

}  // namespace amsp
