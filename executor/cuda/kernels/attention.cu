// Causal attention by plain multiplications, for storage fp32 and fp64 (bf16: attention_mma.cu).
//
// A block has kTile x kTile threads: thread (x, y) does the score of row y and column x of a tile
// of kTile queries by kTile keys, and holds columns x, x + kTile, ... of row y of the result in
// registers. Everything is summed by ascending key, head and query, so results don't depend on
// timing. Scores follow Dao et al., FlashAttention (arXiv 2205.14135), algorithms 1 and 4; the
// backward is in two passes, one by queries (dq), one by keys (dk, dv), instead of atomics.
#include <cmath>

#include "executor/cuda/kernels/kernel_support.cuh"

namespace amsp::cuda {
namespace {

constexpr int kTile = 16;
constexpr int kOwn = kMaxHeadDim / kTile;  // columns of a result that a thread holds
/// Distance of two rows in shared memory: one more than a head, so that the threads of a warp, who
/// read one column of many rows, fall into different banks.
constexpr int kPitch = kMaxHeadDim + 1;
constexpr int kTileElements = kTile * kPitch;
constexpr int kScoresPitch = kTile + 1;

struct Shape {
  int sequence, heads, kv_heads, head_dim;
  std::int64_t q_stride, kv_stride;
};

/// Rows [first, first + kTile) of one head into shared memory, zeros past the end.
template <class T>
__device__ void load(T* tile, const T* from, std::int64_t stride, int first, const Shape& shape) {
  for (int i = static_cast<int>(threadIdx.x); i < kTile * shape.head_dim; i += kTile * kTile) {
    const int row = i / shape.head_dim;
    const int column = i % shape.head_dim;
    tile[row * kPitch + column] =
        first + row < shape.sequence ? from[(first + row) * stride + column] : T(0);
  }
}

template <class T>
__device__ T dot(const T* a, const T* b, int n) {
  T sum = 0;
  for (int i = 0; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

/// out and dout are [batch, sequence, heads, head_dim].
__device__ std::int64_t out_offset(const Shape& shape, int batch, int row, int head) {
  return ((std::int64_t{batch} * shape.sequence + row) * shape.heads + head) * shape.head_dim;
}

template <class T>
__global__ void __launch_bounds__(kTile* kTile)
    attention(Shape shape, const T* q, const T* k, const T* v, T* out, T* lse, T scale) {
  static __shared__ T q_tile[kTileElements];
  static __shared__ T kv_tile[kTileElements];
  static __shared__ T scores[kTile * kScoresPitch];
  const int x = static_cast<int>(threadIdx.x) % kTile;
  const int y = static_cast<int>(threadIdx.x) / kTile;
  const int head = static_cast<int>(blockIdx.y);
  const int batch = static_cast<int>(blockIdx.z);
  const int first = static_cast<int>(blockIdx.x) * kTile;
  const int row = first + y;
  const int d = shape.head_dim;
  const int kv_head = head / (shape.heads / shape.kv_heads);
  const std::int64_t start = std::int64_t{batch} * shape.sequence;
  k += start * shape.kv_stride + kv_head * d;
  v += start * shape.kv_stride + kv_head * d;

  load(q_tile, q + start * shape.q_stride + head * d, shape.q_stride, first, shape);
  T largest = -INFINITY;
  T sum = 0;
  T result[kOwn] = {};
  for (int keys = 0; keys <= first; keys += kTile) {
    __syncthreads();
    load(kv_tile, k, shape.kv_stride, keys, shape);
    __syncthreads();
    const bool seen = keys + x <= row && keys + x < shape.sequence;
    const T score = seen ? scale * dot(q_tile + y * kPitch, kv_tile + x * kPitch, d) : T(-INFINITY);
    scores[y * kScoresPitch + x] = score;
    __syncthreads();
    load(kv_tile, v, shape.kv_stride, keys, shape);
    T now = largest;
    for (int i = 0; i < kTile; ++i) now = Max::apply(now, scores[y * kScoresPitch + i]);
    __syncthreads();
    scores[y * kScoresPitch + x] = exp_of(score - now);
    __syncthreads();
    const T keep = exp_of(largest - now);
    largest = now;
    sum *= keep;
    for (T& value : result) value *= keep;
    for (int i = 0; i < kTile; ++i) {
      const T weight = scores[y * kScoresPitch + i];
      sum += weight;
      for (int own = 0; own < kOwn; ++own)
        if (own * kTile + x < d) result[own] += weight * kv_tile[i * kPitch + own * kTile + x];
    }
  }
  if (row >= shape.sequence) return;
  out += out_offset(shape, batch, row, head);
  for (int own = 0; own < kOwn; ++own)
    if (own * kTile + x < d) out[own * kTile + x] = result[own] / sum;
  if (x == 0)
    lse[(std::int64_t{batch} * shape.heads + head) * shape.sequence + row] = largest + log_of(sum);
}

template <class T>
struct BackwardPointers {
  const T *q, *k, *v, *out, *lse, *dout;
  T *dq, *dk, *dv;
};

/// Rows of q and dout and what belongs to them: lse, and delta = dout . out.
template <class T>
struct QueryTile {
  T *q, *dout, *lse, *delta;
};
template <class T>
__device__ void load_queries(const QueryTile<T>& tile, const BackwardPointers<T>& p,
                             const Shape& shape, int batch, int head, int first) {
  load(tile.q, p.q + std::int64_t{batch} * shape.sequence * shape.q_stride + head * shape.head_dim,
       shape.q_stride, first, shape);
  load(tile.dout, p.dout + out_offset(shape, batch, 0, head),
       std::int64_t{shape.heads} * shape.head_dim, first, shape);
  const int row = first + static_cast<int>(threadIdx.x);
  if (threadIdx.x < kTile) {
    const bool inside = row < shape.sequence;
    const std::int64_t at = inside ? out_offset(shape, batch, row, head) : 0;
    tile.delta[threadIdx.x] = inside ? dot(p.dout + at, p.out + at, shape.head_dim) : T(0);
    tile.lse[threadIdx.x] =
        inside ? p.lse[(std::int64_t{batch} * shape.heads + head) * shape.sequence + row] : T(0);
  }
}

/// Shared memory of both backward kernels, dynamic because fp64 needs more than 48 KiB.
template <class T>
struct BackwardShared {
  QueryTile<T> queries;
  T *k, *v, *p, *ds;

  __device__ explicit BackwardShared(unsigned char* memory) {
    T* at = reinterpret_cast<T*>(memory);
    queries.q = at;
    queries.dout = at + kTileElements;
    k = at + 2 * kTileElements;
    v = at + 3 * kTileElements;
    p = at + 4 * kTileElements;
    ds = p + kTile * kScoresPitch;
    queries.lse = ds + kTile * kScoresPitch;
    queries.delta = queries.lse + kTile;
  }
};
template <class T>
constexpr std::size_t kBackwardBytes = sizeof(T) *
                                       (4 * kTileElements + 2 * kTile * kScoresPitch + 2 * kTile);

/// Probability and gradient of the score of query `first + y` and key `keys + x`, into p and ds.
template <class T>
__device__ void score_gradients(const BackwardShared<T>& shared, const Shape& shape, int first,
                                int keys, T scale) {
  const int x = static_cast<int>(threadIdx.x) % kTile;
  const int y = static_cast<int>(threadIdx.x) / kTile;
  const int d = shape.head_dim;
  T p = 0;
  if (first + y < shape.sequence && keys + x <= first + y)
    p = exp_of(scale * dot(shared.queries.q + y * kPitch, shared.k + x * kPitch, d) -
               shared.queries.lse[y]);
  const T dp = dot(shared.queries.dout + y * kPitch, shared.v + x * kPitch, d);
  shared.p[y * kScoresPitch + x] = p;
  shared.ds[y * kScoresPitch + x] = p * (dp - shared.queries.delta[y]) * scale;
}

template <class T>
__global__ void __launch_bounds__(kTile* kTile)
    attention_dq(Shape shape, BackwardPointers<T> pointers, T scale) {
  const BackwardShared<T> shared(amsp_dynamic_shared);
  const int x = static_cast<int>(threadIdx.x) % kTile;
  const int y = static_cast<int>(threadIdx.x) / kTile;
  const int head = static_cast<int>(blockIdx.y);
  const int batch = static_cast<int>(blockIdx.z);
  const int first = static_cast<int>(blockIdx.x) * kTile;
  const int d = shape.head_dim;
  const int kv_head = head / (shape.heads / shape.kv_heads);
  const std::int64_t start = std::int64_t{batch} * shape.sequence;
  const std::int64_t kv = start * shape.kv_stride + kv_head * d;

  load_queries(shared.queries, pointers, shape, batch, head, first);
  T result[kOwn] = {};
  for (int keys = 0; keys <= first; keys += kTile) {
    __syncthreads();
    load(shared.k, pointers.k + kv, shape.kv_stride, keys, shape);
    load(shared.v, pointers.v + kv, shape.kv_stride, keys, shape);
    __syncthreads();
    score_gradients(shared, shape, first, keys, scale);
    __syncthreads();
    for (int i = 0; i < kTile; ++i)
      for (int own = 0; own < kOwn; ++own)
        if (own * kTile + x < d)
          result[own] += shared.ds[y * kScoresPitch + i] * shared.k[i * kPitch + own * kTile + x];
  }
  if (first + y >= shape.sequence) return;
  T* dq = pointers.dq + (start + first + y) * shape.q_stride + head * d;
  for (int own = 0; own < kOwn; ++own)
    if (own * kTile + x < d) dq[own * kTile + x] = result[own];
}

template <class T>
__global__ void __launch_bounds__(kTile* kTile)
    attention_dkv(Shape shape, BackwardPointers<T> pointers, T scale) {
  const BackwardShared<T> shared(amsp_dynamic_shared);
  const int x = static_cast<int>(threadIdx.x) % kTile;
  const int y = static_cast<int>(threadIdx.x) / kTile;
  const int kv_head = static_cast<int>(blockIdx.y);
  const int batch = static_cast<int>(blockIdx.z);
  const int keys = static_cast<int>(blockIdx.x) * kTile;
  const int d = shape.head_dim;
  const int group = shape.heads / shape.kv_heads;
  const std::int64_t start = std::int64_t{batch} * shape.sequence;
  const std::int64_t kv = start * shape.kv_stride + kv_head * d;

  load(shared.k, pointers.k + kv, shape.kv_stride, keys, shape);
  load(shared.v, pointers.v + kv, shape.kv_stride, keys, shape);
  T dk[kOwn] = {};
  T dv[kOwn] = {};
  for (int head = kv_head * group; head < (kv_head + 1) * group; ++head) {
    for (int first = keys; first < shape.sequence; first += kTile) {
      __syncthreads();
      load_queries(shared.queries, pointers, shape, batch, head, first);
      __syncthreads();
      score_gradients(shared, shape, first, keys, scale);
      __syncthreads();
      for (int i = 0; i < kTile; ++i) {
        const T p = shared.p[i * kScoresPitch + y];
        const T ds = shared.ds[i * kScoresPitch + y];
        for (int own = 0; own < kOwn; ++own) {
          if (own * kTile + x >= d) continue;
          dv[own] += p * shared.queries.dout[i * kPitch + own * kTile + x];
          dk[own] += ds * shared.queries.q[i * kPitch + own * kTile + x];
        }
      }
    }
  }
  if (keys + y >= shape.sequence) return;
  const std::int64_t at = kv + (keys + y) * shape.kv_stride;
  for (int own = 0; own < kOwn; ++own) {
    if (own * kTile + x >= d) continue;
    pointers.dk[at + own * kTile + x] = dk[own];
    pointers.dv[at + own * kTile + x] = dv[own];
  }
}

template <class Work>
bool supported(const Work& work) {
  return work.head_dim > 0 && work.head_dim <= kMaxHeadDim && work.kv_heads > 0 &&
         work.heads % work.kv_heads == 0 && work.sequence > 0;
}
template <class Work>
Shape shape_of(const Work& work) {
  return {work.sequence, work.heads, work.kv_heads, work.head_dim, work.q_stride, work.kv_stride};
}
template <class Work>
dim3 grid_of(const Work& work, int heads) {
  return dim3(static_cast<unsigned>((work.sequence + kTile - 1) / kTile),
              static_cast<unsigned>(heads), static_cast<unsigned>(work.batch));
}

template <class T>
cudaError_t launch_as(cudaStream_t stream, const Attention& work) {
  const auto scale = static_cast<T>(1 / std::sqrt(static_cast<double>(work.head_dim)));
  return launch_kernel(attention<T>, grid_of(work, work.heads), dim3(kTile * kTile), 0, stream,
                       shape_of(work), static_cast<const T*>(work.q), static_cast<const T*>(work.k),
                       static_cast<const T*>(work.v), static_cast<T*>(work.out),
                       static_cast<T*>(work.lse), scale);
}

template <class T>
cudaError_t launch_as(cudaStream_t stream, const AttentionBackward& work) {
  const auto scale = static_cast<T>(1 / std::sqrt(static_cast<double>(work.head_dim)));
  const BackwardPointers<T> pointers = {
      static_cast<const T*>(work.q),   static_cast<const T*>(work.k),
      static_cast<const T*>(work.v),   static_cast<const T*>(work.out),
      static_cast<const T*>(work.lse), static_cast<const T*>(work.dout),
      static_cast<T*>(work.dq),        static_cast<T*>(work.dk),
      static_cast<T*>(work.dv)};
  const cudaError_t status =
      launch_kernel(attention_dq<T>, grid_of(work, work.heads), dim3(kTile * kTile),
                    kBackwardBytes<T>, stream, shape_of(work), pointers, scale);
  if (status != cudaSuccess) return status;
  return launch_kernel(attention_dkv<T>, grid_of(work, work.kv_heads), dim3(kTile * kTile),
                       kBackwardBytes<T>, stream, shape_of(work), pointers, scale);
}

template <class Work>
cudaError_t launch_by_type(cudaStream_t stream, const Work& work) {
  if (!supported(work)) return cudaErrorInvalidValue;
  if (work.batch == 0) return cudaSuccess;
  switch (work.type) {
    case DType::kBf16:
      return launch_mma(stream, work);
    case DType::kF32:
      return launch_as<float>(stream, work);
    case DType::kF64:
      return launch_as<double>(stream, work);
    case DType::kI32:
      break;
  }
  return cudaErrorInvalidValue;
}

}  // namespace

cudaError_t launch(cudaStream_t stream, const Attention& work) {
  return launch_by_type(stream, work);
}
cudaError_t launch(cudaStream_t stream, const AttentionBackward& work) {
  return launch_by_type(stream, work);
}

}  // namespace amsp::cuda
