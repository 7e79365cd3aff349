// Kernels whose blocks sum: over a row, a column, the tokens of a word, or the parts of a list.
#include "executor/cuda/kernels/kernel_support.cuh"

namespace amsp::cuda {
namespace {

/// A block of kThreads threads takes kColumns columns of a matrix: thread (x, y) the rows y, y +
/// kLanes, ... of column x. The same order of sums in every launch.
constexpr int kColumns = 32;
constexpr int kLanes = kThreads / kColumns;
unsigned column_blocks(std::int64_t n) {
  return static_cast<unsigned>((n + kColumns - 1) / kColumns);
}

/// Sums what the lanes of a column have; `write` runs on one thread of each column that exists.
template <class W, class Write>
__device__ void over_column(W value, std::int64_t n, Write write) {
  static __shared__ W by_lane[kLanes][kColumns];
  const int x = static_cast<int>(threadIdx.x) % kColumns;
  const int lane = static_cast<int>(threadIdx.x) / kColumns;
  by_lane[lane][x] = value;
  __syncthreads();
  const std::int64_t column = std::int64_t{blockIdx.x} * kColumns + x;
  if (lane == 0 && column < n) {
    W all = by_lane[0][x];
    for (int i = 1; i < kLanes; ++i) all += by_lane[i][x];
    write(column, all);
  }
}

template <class T, class G>
__global__ void column_sum(std::int64_t rows, std::int64_t n, const T* dy, std::int64_t stride,
                           G* sum, bool accumulate) {
  const std::int64_t column = std::int64_t{blockIdx.x} * kColumns + threadIdx.x % kColumns;
  Wide<T> part = 0;
  if (column < n)
    for (std::int64_t row = threadIdx.x / kColumns; row < rows; row += kLanes)
      part += widen(dy[row * stride + column]);
  over_column(part, n, [=](std::int64_t c, Wide<T> all) {
    sum[c] = narrow<G>(accumulate ? widen(sum[c]) + all : all);
  });
}

template <class T>
__global__ void rms_norm(std::int64_t n, double eps, const T* x, const T* weight, T* y,
                         Wide<T>* rstd) {
  using W = Wide<T>;
  const std::int64_t row = blockIdx.x;
  const T* in = x + row * n;
  W squares = 0;
  for (std::int64_t i = threadIdx.x; i < n; i += kThreads) {
    const W value = widen(in[i]);
    squares += value * value;
  }
  squares = over_block<Sum>(squares);
  const W scale = W(1) / sqrt_of(squares / static_cast<W>(n) + static_cast<W>(eps));
  for (std::int64_t i = threadIdx.x; i < n; i += kThreads)
    y[row * n + i] = narrow<T>(widen(in[i]) * scale * widen(weight[i]));
  if (threadIdx.x == 0) rstd[row] = scale;
}

/// dx = rstd (dy w - x rstd^2 mean(dy w x))
template <class T>
__global__ void rms_norm_dx(std::int64_t n, const T* dy, const T* x, const T* weight,
                            const Wide<T>* rstd, T* dx) {
  using W = Wide<T>;
  const std::int64_t row = blockIdx.x;
  const W scale = rstd[row];
  W dot = 0;
  for (std::int64_t i = threadIdx.x; i < n; i += kThreads)
    dot += widen(dy[row * n + i]) * widen(weight[i]) * widen(x[row * n + i]);
  dot = over_block<Sum>(dot);
  const W mean = dot / static_cast<W>(n) * scale * scale;
  for (std::int64_t i = threadIdx.x; i < n; i += kThreads) {
    const std::int64_t at = row * n + i;
    dx[at] = narrow<T>(scale * (widen(dy[at]) * widen(weight[i]) - widen(x[at]) * mean));
  }
}

template <class T, class G>
__global__ void rms_norm_dweight(std::int64_t rows, std::int64_t n, const T* dy, const T* x,
                                 const Wide<T>* rstd, G* dweight, bool accumulate) {
  const std::int64_t column = std::int64_t{blockIdx.x} * kColumns + threadIdx.x % kColumns;
  Wide<T> part = 0;
  if (column < n)
    for (std::int64_t row = threadIdx.x / kColumns; row < rows; row += kLanes)
      part += widen(dy[row * n + column]) * widen(x[row * n + column]) * rstd[row];
  over_column(part, n, [=](std::int64_t c, Wide<T> all) {
    dweight[c] = narrow<G>(accumulate ? widen(dweight[c]) + all : all);
  });
}

/// A block takes row blockIdx.x of the table and kWidth columns. It walks over the tokens in steps
/// of kThreads and adds the matches of a step in ascending order.
constexpr int kPerThread = 4;
constexpr int kWidth = kThreads * kPerThread;
template <class T, class G>
__global__ void embedding_backward(std::int64_t rows, std::int64_t n, const std::int32_t* tokens,
                                   const T* dout, G* dtable, bool accumulate) {
  using W = Wide<T>;
  static __shared__ bool matches[kThreads];
  const auto word = static_cast<std::int32_t>(blockIdx.x);
  const std::int64_t first = std::int64_t{blockIdx.y} * kWidth + threadIdx.x;
  W sums[kPerThread] = {};
  bool found = false;
  for (std::int64_t step = 0; step < rows; step += kThreads) {
    const std::int64_t mine = step + threadIdx.x;
    const bool match = mine < rows && tokens[mine] == word;
    if (__syncthreads_or(match) == 0) continue;
    matches[threadIdx.x] = match;
    __syncthreads();
    found = true;
    for (int i = 0; i < kThreads; ++i) {
      if (!matches[i]) continue;
      for (int k = 0; k < kPerThread; ++k) {
        const std::int64_t column = first + std::int64_t{k} * kThreads;
        if (column < n) sums[k] += widen(dout[(step + i) * n + column]);
      }
    }
    __syncthreads();
  }
  if (accumulate && !found) return;
  for (int k = 0; k < kPerThread; ++k) {
    const std::int64_t column = first + std::int64_t{k} * kThreads;
    if (column >= n) continue;
    G& out = dtable[word * n + column];
    out = narrow<G>(accumulate ? widen(out) + sums[k] : sums[k]);
  }
}

template <class T>
__global__ void cross_entropy_lse(std::int64_t vocab, const T* logits, Wide<T>* lse) {
  using W = Wide<T>;
  const T* row = logits + std::int64_t{blockIdx.x} * vocab;
  W largest = widen(row[0]);
  for (std::int64_t i = threadIdx.x; i < vocab; i += kThreads)
    largest = Max::apply(largest, static_cast<W>(widen(row[i])));
  largest = over_block<Max>(largest);
  W sum = 0;
  for (std::int64_t i = threadIdx.x; i < vocab; i += kThreads)
    sum += exp_of(widen(row[i]) - largest);
  sum = over_block<Sum>(sum);
  if (threadIdx.x == 0) lse[blockIdx.x] = largest + log_of(sum);
}

/// One block.
template <class T>
__global__ void cross_entropy_mean(std::int64_t rows, std::int64_t vocab, const T* logits,
                                   const std::int32_t* targets, const Wide<T>* lse, Wide<T>* loss) {
  using W = Wide<T>;
  W sum = 0;
  for (std::int64_t row = threadIdx.x; row < rows; row += kThreads)
    sum += lse[row] - widen(logits[row * vocab + targets[row]]);
  sum = over_block<Sum>(sum);
  if (threadIdx.x == 0) *loss = sum / static_cast<W>(rows);
}

template <class G>
__global__ void squares_of_chunks(const GradPart* parts, const PartChunk* chunks,
                                  Wide<G>* partial) {
  const PartChunk chunk = chunks[blockIdx.x];
  const G* grad = static_cast<const G*>(parts[chunk.part].grad) + chunk.first;
  Wide<G> sum = 0;
  for (int i = static_cast<int>(threadIdx.x); i < chunk.count; i += kThreads) {
    const Wide<G> value = widen(grad[i]);
    sum += value * value;
  }
  sum = over_block<Sum>(sum);
  if (threadIdx.x == 0) partial[blockIdx.x] = sum;
}

/// One block.
template <class W>
__global__ void sum_of_partials(std::int64_t count, const W* partial, W* out) {
  W sum = 0;
  for (std::int64_t i = threadIdx.x; i < count; i += kThreads) sum += partial[i];
  sum = over_block<Sum>(sum);
  if (threadIdx.x == 0) *out = sum;
}

}  // namespace

cudaError_t launch(cudaStream_t stream, const ColumnSum& work) {
  if (work.n == 0) return cudaSuccess;
  return by_types(work.type, work.grad_type, [&](auto tag, auto grad_tag) {
    using T = typename decltype(tag)::Type;
    using G = typename decltype(grad_tag)::Type;
    return launch_kernel(column_sum<T, G>, dim3(column_blocks(work.n)), dim3(kThreads), 0, stream,
                         work.rows, work.n, static_cast<const T*>(work.dy), work.stride,
                         static_cast<G*>(work.sum), work.accumulate);
  });
}

cudaError_t launch(cudaStream_t stream, const RmsNorm& work) {
  if (work.rows == 0) return cudaSuccess;
  return by_type(work.type, [&](auto tag) {
    using T = typename decltype(tag)::Type;
    return launch_kernel(rms_norm<T>, dim3(static_cast<unsigned>(work.rows)), dim3(kThreads), 0,
                         stream, work.n, work.eps, static_cast<const T*>(work.x),
                         static_cast<const T*>(work.weight), static_cast<T*>(work.y),
                         static_cast<Wide<T>*>(work.rstd));
  });
}

cudaError_t launch(cudaStream_t stream, const RmsNormBackward& work) {
  if (work.n == 0) return cudaSuccess;
  return by_types(work.type, work.grad_type, [&](auto tag, auto grad_tag) {
    using T = typename decltype(tag)::Type;
    using G = typename decltype(grad_tag)::Type;
    const auto* dy = static_cast<const T*>(work.dy);
    const auto* x = static_cast<const T*>(work.x);
    const auto* rstd = static_cast<const Wide<T>*>(work.rstd);
    const cudaError_t status = launch_kernel(rms_norm_dweight<T, G>, dim3(column_blocks(work.n)),
                                             dim3(kThreads), 0, stream, work.rows, work.n, dy, x,
                                             rstd, static_cast<G*>(work.dweight), work.accumulate);
    if (status != cudaSuccess || work.rows == 0) return status;
    return launch_kernel(rms_norm_dx<T>, dim3(static_cast<unsigned>(work.rows)), dim3(kThreads), 0,
                         stream, work.n, dy, x, static_cast<const T*>(work.weight), rstd,
                         static_cast<T*>(work.dx));
  });
}

cudaError_t launch(cudaStream_t stream, const EmbeddingBackward& work) {
  if (work.vocab == 0 || work.n == 0) return cudaSuccess;
  return by_types(work.type, work.grad_type, [&](auto tag, auto grad_tag) {
    using T = typename decltype(tag)::Type;
    using G = typename decltype(grad_tag)::Type;
    const dim3 grid(static_cast<unsigned>(work.vocab),
                    static_cast<unsigned>((work.n + kWidth - 1) / kWidth));
    return launch_kernel(embedding_backward<T, G>, grid, dim3(kThreads), 0, stream, work.rows,
                         work.n, work.tokens, static_cast<const T*>(work.dout),
                         static_cast<G*>(work.dtable), work.accumulate);
  });
}

cudaError_t launch(cudaStream_t stream, const CrossEntropy& work) {
  if (work.rows == 0 || work.vocab == 0) return cudaErrorInvalidValue;
  return by_type(work.type, [&](auto tag) {
    using T = typename decltype(tag)::Type;
    const auto* logits = static_cast<const T*>(work.logits);
    auto* lse = static_cast<Wide<T>*>(work.lse);
    const cudaError_t status =
        launch_kernel(cross_entropy_lse<T>, dim3(static_cast<unsigned>(work.rows)), dim3(kThreads),
                      0, stream, work.vocab, logits, lse);
    if (status != cudaSuccess) return status;
    return launch_kernel(cross_entropy_mean<T>, dim3(1), dim3(kThreads), 0, stream, work.rows,
                         work.vocab, logits, work.targets, lse, static_cast<Wide<T>*>(work.loss));
  });
}

cudaError_t launch(cudaStream_t stream, const SumOfSquares& work, const GradPart* parts,
                   const PartChunk* chunks, std::int64_t chunk_count, void* partial) {
  return by_type(work.grad_type, [&](auto tag) {
    using G = typename decltype(tag)::Type;
    using W = Wide<G>;
    if (work.wide != (sizeof(W) == sizeof(double) ? DType::kF64 : DType::kF32))
      return cudaErrorInvalidValue;
    if (chunk_count > 0) {
      const cudaError_t status =
          launch_kernel(squares_of_chunks<G>, dim3(static_cast<unsigned>(chunk_count)),
                        dim3(kThreads), 0, stream, parts, chunks, static_cast<W*>(partial));
      if (status != cudaSuccess) return status;
    }
    return launch_kernel(sum_of_partials<W>, dim3(1), dim3(kThreads), 0, stream, chunk_count,
                         static_cast<const W*>(partial), static_cast<W*>(work.sum));
  });
}

}  // namespace amsp::cuda
