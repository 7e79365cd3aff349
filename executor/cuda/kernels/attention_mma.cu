// Causal attention on tensor cores, for storage bf16; the mathematics is that of attention.cu.
//
// A block has four warps. Forward and dq: 64 queries a block, 16 a warp; dk and dv: 64 keys a
// block, 16 a warp. Tiles of the other side pass through shared memory; scores and results stay in
// registers, where the accumulator of one product has the layout of the next one's A.
// Long because three kernels share the handling of fragments, which nothing else needs.
#include <cmath>

#include "executor/cuda/kernels/kernel_support.cuh"
#include "executor/cuda/kernels/mma.cuh"

namespace amsp::cuda {
namespace {

constexpr int kMmaThreads = 128;
constexpr int kOwnRows = 64;  // rows of a block: queries, or keys in the pass for dk and dv
constexpr int kPassing = 32;  // rows that pass by at a time in the backward
constexpr int kForwardKeys = 64;

struct Shape {
  int sequence, heads, kv_heads, head_dim;
  std::int64_t q_stride, kv_stride;
};

/// A tile in shared memory has rows of kDim elements, zeros past the head's end. 8 more to a row
/// keep rows aligned to 16 bytes and the lanes of a fragment in different banks.
template <int kDim>
constexpr int kRowPitch = kDim + 8;

__device__ unsigned pack(Bf16 low, Bf16 high) {
  return static_cast<unsigned>(__bfloat16_as_ushort(low)) |
         static_cast<unsigned>(__bfloat16_as_ushort(high)) << 16;
}
__device__ unsigned pack(float low, float high) {
  return pack(__float2bfloat16_rn(low), __float2bfloat16_rn(high));
}

struct Lane {
  int g, t;
  __device__ Lane()
      : g(static_cast<int>(threadIdx.x) % kWarp / 4), t(static_cast<int>(threadIdx.x) % 4) {}
};

/// Rows [first, first + kRows) of one head into shared memory.
template <int kRows, int kDim>
__device__ void load_tile(Bf16* tile, const Bf16* from, std::int64_t stride, int first,
                          const Shape& shape) {
  constexpr int kVector = 8;
  const bool vectors = reinterpret_cast<std::uintptr_t>(from) % sizeof(uint4) == 0 &&
                       stride % kVector == 0 && shape.head_dim % kVector == 0;
  for (int i = static_cast<int>(threadIdx.x); i < kRows * kDim / kVector; i += kMmaThreads) {
    const int row = i / (kDim / kVector);
    const int column = i % (kDim / kVector) * kVector;
    const Bf16* source = from + (first + row) * stride + column;
    Bf16* target = tile + row * kRowPitch<kDim> + column;
    const int left = first + row < shape.sequence ? shape.head_dim - column : 0;
    if (vectors && left > 0) {
      *reinterpret_cast<uint4*>(target) = *reinterpret_cast<const uint4*>(source);
    } else {
      for (int k = 0; k < kVector; ++k) target[k] = k < left ? source[k] : narrow<Bf16>(0.0f);
    }
  }
}

__device__ unsigned pair_at(const Bf16* tile) {
  return *reinterpret_cast<const unsigned*>(tile);
}
/// A = tile[row.., column..].
template <int kDim>
__device__ FragmentA a_of(const Bf16* tile, int row, int column) {
  const Lane lane;
  const Bf16* at = tile + (row + lane.g) * kRowPitch<kDim> + column + 2 * lane.t;
  return {{pair_at(at), pair_at(at + 8 * kRowPitch<kDim>), pair_at(at + 8),
           pair_at(at + 8 * kRowPitch<kDim> + 8)}};
}
/// B = the transpose of tile[row.., column..]: products over the head's columns.
template <int kDim>
__device__ FragmentB b_of_rows(const Bf16* tile, int row, int column) {
  const Lane lane;
  const Bf16* at = tile + (row + lane.g) * kRowPitch<kDim> + column + 2 * lane.t;
  return {{pair_at(at), pair_at(at + 8)}};
}
/// B = tile[row.., column..]: products over the tile's rows.
template <int kDim>
__device__ FragmentB b_of_columns(const Bf16* tile, int row, int column) {
  const Lane lane;
  const Bf16* at = tile + (row + 2 * lane.t) * kRowPitch<kDim> + column + lane.g;
  return {
      {pack(at[0], at[kRowPitch<kDim>]), pack(at[8 * kRowPitch<kDim>], at[9 * kRowPitch<kDim>])}};
}
/// Accumulators of two neighbouring products, rounded, as A of columns [0, 16).
__device__ FragmentA a_of_results(const FragmentC& left, const FragmentC& right) {
  return {{pack(left.x[0], left.x[1]), pack(left.x[2], left.x[3]), pack(right.x[0], right.x[1]),
           pack(right.x[2], right.x[3])}};
}

/// product[16, 8 * kCount] = a_tile[a_row.., :] b_tile[:, :]^T
template <int kCount, int kDim>
__device__ void multiply_rows(FragmentC (&product)[kCount], const Bf16* a_tile, int a_row,
                              const Bf16* b_tile) {
#pragma unroll
  for (int n = 0; n < kCount; ++n) product[n] = {};
#pragma unroll
  for (int k = 0; k < kDim; k += 16) {
    const FragmentA a = a_of<kDim>(a_tile, a_row, k);
#pragma unroll
    for (int n = 0; n < kCount; ++n) mma(product[n], a, b_of_rows<kDim>(b_tile, 8 * n, k));
  }
}
/// result[16, kDim] += weights[16, 8 * kCount] tile[:, :]
template <int kCount, int kDim>
__device__ void multiply_columns(FragmentC (&result)[kDim / 8], const FragmentC (&weights)[kCount],
                                 const Bf16* tile) {
#pragma unroll
  for (int k = 0; k < kCount / 2; ++k) {
    const FragmentA a = a_of_results(weights[2 * k], weights[2 * k + 1]);
#pragma unroll
    for (int n = 0; n < kDim / 8; ++n) mma(result[n], a, b_of_columns<kDim>(tile, 16 * k, 8 * n));
  }
}

/// Over the four lanes that share rows of an accumulator.
template <class Op>
__device__ float over_row(float value) {
  value = Op::apply(value, __shfl_xor_sync(kAllLanes, value, 1));
  return Op::apply(value, __shfl_xor_sync(kAllLanes, value, 2));
}

/// Writes factor * result as rows `row` and `row + 8` of a matrix with `d` columns.
template <int kDim>
__device__ void store(const FragmentC (&result)[kDim / 8], const float (&factor)[2], Bf16* to,
                      std::int64_t stride, int row, const Shape& shape) {
  const Lane lane;
#pragma unroll
  for (int n = 0; n < kDim / 8; ++n) {
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      const int at = row + e / 2 * 8;
      const int column = 8 * n + 2 * lane.t + e % 2;
      if (at < shape.sequence && column < shape.head_dim)
        to[at * stride + column] = __float2bfloat16_rn(result[n].x[e] * factor[e / 2]);
    }
  }
}

/// out and dout are [batch, sequence, heads, head_dim], lse is [batch, heads, sequence].
__device__ std::int64_t out_offset(const Shape& shape, int batch, int head) {
  return (std::int64_t{batch} * shape.sequence * shape.heads + head) * shape.head_dim;
}
__device__ std::int64_t lse_offset(const Shape& shape, int batch, int head) {
  return (std::int64_t{batch} * shape.heads + head) * shape.sequence;
}
/// delta = dout . out of one row, by the four lanes of the row.
__device__ float delta_of(const Bf16* dout, const Bf16* out, int d, bool inside) {
  float sum = 0;
  if (inside)
    for (int i = static_cast<int>(threadIdx.x) % 4; i < d; i += 4)
      sum += widen(dout[i]) * widen(out[i]);
  return over_row<Sum>(sum);
}

template <int kDim>
__global__ void __launch_bounds__(kMmaThreads)
    attention(Shape shape, const Bf16* q, const Bf16* k, const Bf16* v, Bf16* out, float* lse,
              float scale) {
  static __shared__ __align__(16) Bf16 k_tile[kForwardKeys * kRowPitch<kDim>];
  static __shared__ __align__(16) Bf16 v_tile[kForwardKeys * kRowPitch<kDim>];
  static_assert(kForwardKeys == kOwnRows, "the queries pass through the keys' tile first");
  constexpr int kCount = kForwardKeys / 8;
  const Lane lane;
  const int head = static_cast<int>(blockIdx.y);
  const int batch = static_cast<int>(blockIdx.z);
  const int first = static_cast<int>(blockIdx.x) * kOwnRows;
  const int warp_row = static_cast<int>(threadIdx.x) / kWarp * 16;
  const int row = first + warp_row + lane.g;  // and row + 8
  const int kv_head = head / (shape.heads / shape.kv_heads);
  const std::int64_t start = std::int64_t{batch} * shape.sequence;
  const std::int64_t kv = start * shape.kv_stride + kv_head * shape.head_dim;

  load_tile<kOwnRows, kDim>(k_tile, q + start * shape.q_stride + head * shape.head_dim,
                            shape.q_stride, first, shape);
  __syncthreads();
  FragmentA queries[kDim / 16];
#pragma unroll
  for (int i = 0; i < kDim / 16; ++i) queries[i] = a_of<kDim>(k_tile, warp_row, 16 * i);

  FragmentC result[kDim / 8] = {};
  float largest[2] = {-INFINITY, -INFINITY};
  float sum[2] = {0, 0};  // of this lane's columns
  const int end = first + kOwnRows < shape.sequence ? first + kOwnRows : shape.sequence;
  for (int keys = 0; keys < end; keys += kForwardKeys) {
    __syncthreads();
    load_tile<kForwardKeys, kDim>(k_tile, k + kv, shape.kv_stride, keys, shape);
    load_tile<kForwardKeys, kDim>(v_tile, v + kv, shape.kv_stride, keys, shape);
    __syncthreads();
    FragmentC scores[kCount] = {};
#pragma unroll
    for (int i = 0; i < kDim / 16; ++i)
#pragma unroll
      for (int n = 0; n < kCount; ++n)
        mma(scores[n], queries[i], b_of_rows<kDim>(k_tile, 8 * n, 16 * i));

    float now[2] = {largest[0], largest[1]};
#pragma unroll
    for (int n = 0; n < kCount; ++n) {
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        const int key = keys + 8 * n + 2 * lane.t + e % 2;
        const bool seen = key <= row + e / 2 * 8 && key < shape.sequence;
        scores[n].x[e] = seen ? scores[n].x[e] * scale : -INFINITY;
        now[e / 2] = Max::apply(now[e / 2], scores[n].x[e]);
      }
    }
    // Key `keys` is seen by every row of the block, so the maxima are finite.
    float keep[2];
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      now[half] = over_row<Max>(now[half]);
      keep[half] = expf(largest[half] - now[half]);
      largest[half] = now[half];
      sum[half] *= keep[half];
    }
#pragma unroll
    for (int n = 0; n < kCount; ++n) {
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        scores[n].x[e] = expf(scores[n].x[e] - now[e / 2]);
        sum[e / 2] += scores[n].x[e];
      }
    }
#pragma unroll
    for (int n = 0; n < kDim / 8; ++n)
#pragma unroll
      for (int e = 0; e < 4; ++e) result[n].x[e] *= keep[e / 2];
    multiply_columns<kCount, kDim>(result, scores, v_tile);
  }

  const float total[2] = {over_row<Sum>(sum[0]), over_row<Sum>(sum[1])};
  const float factor[2] = {1 / total[0], 1 / total[1]};
  store<kDim>(result, factor, out + out_offset(shape, batch, head),
              std::int64_t{shape.heads} * shape.head_dim, row, shape);
  if (lane.t != 0) return;
  for (int half = 0; half < 2; ++half)
    if (row + 8 * half < shape.sequence)
      lse[lse_offset(shape, batch, head) + row + 8 * half] = largest[half] + logf(total[half]);
}

struct BackwardPointers {
  const Bf16 *q, *k, *v, *out, *dout;
  const float* lse;
  Bf16 *dq, *dk, *dv;
};
/// Shared memory of both backward kernels: two tiles of the block's own rows, two that pass, and a
/// number for lse and delta of each passing query.
template <int kDim>
constexpr std::size_t kBackwardBytes = 2 * (kOwnRows + kPassing) * kRowPitch<kDim> * sizeof(Bf16) +
                                       2 * kPassing * sizeof(float);

template <int kDim>
__global__ void __launch_bounds__(kMmaThreads)
    attention_dq(Shape shape, BackwardPointers p, float scale) {
  auto* q_tile = reinterpret_cast<Bf16*>(amsp_dynamic_shared);
  Bf16* dout_tile = q_tile + kOwnRows * kRowPitch<kDim>;
  Bf16* k_tile = dout_tile + kOwnRows * kRowPitch<kDim>;
  Bf16* v_tile = k_tile + kPassing * kRowPitch<kDim>;
  constexpr int kCount = kPassing / 8;
  const Lane lane;
  const int head = static_cast<int>(blockIdx.y);
  const int batch = static_cast<int>(blockIdx.z);
  const int first = static_cast<int>(blockIdx.x) * kOwnRows;
  const int warp_row = static_cast<int>(threadIdx.x) / kWarp * 16;
  const int row = first + warp_row + lane.g;
  const int d = shape.head_dim;
  const int kv_head = head / (shape.heads / shape.kv_heads);
  const std::int64_t start = std::int64_t{batch} * shape.sequence;
  const std::int64_t kv = start * shape.kv_stride + kv_head * d;
  const std::int64_t q_at = start * shape.q_stride + head * d;
  const std::int64_t out_at = out_offset(shape, batch, head);
  const std::int64_t out_stride = std::int64_t{shape.heads} * d;

  load_tile<kOwnRows, kDim>(q_tile, p.q + q_at, shape.q_stride, first, shape);
  load_tile<kOwnRows, kDim>(dout_tile, p.dout + out_at, out_stride, first, shape);
  float lse[2];
  float delta[2];
  for (int half = 0; half < 2; ++half) {
    const int at = row + 8 * half;
    const bool inside = at < shape.sequence;
    const std::int64_t offset = out_at + (inside ? at : 0) * out_stride;
    delta[half] = delta_of(p.dout + offset, p.out + offset, d, inside);
    lse[half] = inside ? p.lse[lse_offset(shape, batch, head) + at] : 0;
  }

  FragmentC result[kDim / 8] = {};
  const int end = first + kOwnRows < shape.sequence ? first + kOwnRows : shape.sequence;
  for (int keys = 0; keys < end; keys += kPassing) {
    __syncthreads();
    load_tile<kPassing, kDim>(k_tile, p.k + kv, shape.kv_stride, keys, shape);
    load_tile<kPassing, kDim>(v_tile, p.v + kv, shape.kv_stride, keys, shape);
    __syncthreads();
    FragmentC scores[kCount];
    FragmentC dp[kCount];
    multiply_rows<kCount, kDim>(scores, q_tile, warp_row, k_tile);
    multiply_rows<kCount, kDim>(dp, dout_tile, warp_row, v_tile);
#pragma unroll
    for (int n = 0; n < kCount; ++n) {
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        const int key = keys + 8 * n + 2 * lane.t + e % 2;
        const int query = row + e / 2 * 8;
        const bool seen = key <= query && query < shape.sequence;
        const float weight = seen ? expf(scores[n].x[e] * scale - lse[e / 2]) : 0;
        scores[n].x[e] = weight * (dp[n].x[e] - delta[e / 2]);
      }
    }
    multiply_columns<kCount, kDim>(result, scores, k_tile);
  }
  const float factor[2] = {scale, scale};
  store<kDim>(result, factor, p.dq + q_at, shape.q_stride, row, shape);
}

/// Scores transposed: rows are keys, columns are queries.
template <int kDim>
__global__ void __launch_bounds__(kMmaThreads)
    attention_dkv(Shape shape, BackwardPointers p, float scale) {
  auto* k_tile = reinterpret_cast<Bf16*>(amsp_dynamic_shared);
  Bf16* v_tile = k_tile + kOwnRows * kRowPitch<kDim>;
  Bf16* q_tile = v_tile + kOwnRows * kRowPitch<kDim>;
  Bf16* dout_tile = q_tile + kPassing * kRowPitch<kDim>;
  auto* lse = reinterpret_cast<float*>(dout_tile + kPassing * kRowPitch<kDim>);
  float* delta = lse + kPassing;
  constexpr int kCount = kPassing / 8;
  const Lane lane;
  const int kv_head = static_cast<int>(blockIdx.y);
  const int batch = static_cast<int>(blockIdx.z);
  const int keys = static_cast<int>(blockIdx.x) * kOwnRows;
  const int warp_row = static_cast<int>(threadIdx.x) / kWarp * 16;
  const int row = keys + warp_row + lane.g;
  const int d = shape.head_dim;
  const int group = shape.heads / shape.kv_heads;
  const std::int64_t start = std::int64_t{batch} * shape.sequence;
  const std::int64_t kv = start * shape.kv_stride + kv_head * d;
  const std::int64_t out_stride = std::int64_t{shape.heads} * d;
  static_assert(kMmaThreads == 4 * kPassing, "four lanes for delta of each passing query");

  load_tile<kOwnRows, kDim>(k_tile, p.k + kv, shape.kv_stride, keys, shape);
  load_tile<kOwnRows, kDim>(v_tile, p.v + kv, shape.kv_stride, keys, shape);
  FragmentC dk[kDim / 8] = {};
  FragmentC dv[kDim / 8] = {};
  for (int head = kv_head * group; head < (kv_head + 1) * group; ++head) {
    const std::int64_t out_at = out_offset(shape, batch, head);
    for (int first = keys; first < shape.sequence; first += kPassing) {
      __syncthreads();
      load_tile<kPassing, kDim>(q_tile, p.q + start * shape.q_stride + head * d, shape.q_stride,
                                first, shape);
      load_tile<kPassing, kDim>(dout_tile, p.dout + out_at, out_stride, first, shape);
      {
        const int passing = static_cast<int>(threadIdx.x) / 4;
        const bool inside = first + passing < shape.sequence;
        const std::int64_t offset = out_at + (inside ? first + passing : 0) * out_stride;
        const float of_row = delta_of(p.dout + offset, p.out + offset, d, inside);
        if (lane.t == 0) {
          delta[passing] = of_row;
          lse[passing] = inside ? p.lse[lse_offset(shape, batch, head) + first + passing] : 0;
        }
      }
      __syncthreads();
      FragmentC weights[kCount];
      FragmentC ds[kCount];
      multiply_rows<kCount, kDim>(weights, k_tile, warp_row, q_tile);
      multiply_rows<kCount, kDim>(ds, v_tile, warp_row, dout_tile);
#pragma unroll
      for (int n = 0; n < kCount; ++n) {
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          const int passing = 8 * n + 2 * lane.t + e % 2;
          const int query = first + passing;
          const bool seen = row + e / 2 * 8 <= query && query < shape.sequence;
          const float weight = seen ? expf(weights[n].x[e] * scale - lse[passing]) : 0;
          weights[n].x[e] = weight;
          ds[n].x[e] = weight * (ds[n].x[e] - delta[passing]);
        }
      }
      multiply_columns<kCount, kDim>(dv, weights, dout_tile);
      multiply_columns<kCount, kDim>(dk, ds, q_tile);
    }
  }
  const float one[2] = {1, 1};
  const float factor[2] = {scale, scale};
  store<kDim>(dv, one, p.dv + kv, shape.kv_stride, row, shape);
  store<kDim>(dk, factor, p.dk + kv, shape.kv_stride, row, shape);
}

template <class Work>
Shape shape_of(const Work& work) {
  return {work.sequence, work.heads, work.kv_heads, work.head_dim, work.q_stride, work.kv_stride};
}
template <class Work>
dim3 grid_of(const Work& work, int heads) {
  return dim3(static_cast<unsigned>((work.sequence + kOwnRows - 1) / kOwnRows),
              static_cast<unsigned>(heads), static_cast<unsigned>(work.batch));
}
template <class Work>
float scale_of(const Work& work) {
  return static_cast<float>(1 / std::sqrt(static_cast<double>(work.head_dim)));
}

template <int kDim>
cudaError_t forward(cudaStream_t stream, const Attention& work) {
  return launch_kernel(attention<kDim>, grid_of(work, work.heads), dim3(kMmaThreads), 0, stream,
                       shape_of(work), static_cast<const Bf16*>(work.q),
                       static_cast<const Bf16*>(work.k), static_cast<const Bf16*>(work.v),
                       static_cast<Bf16*>(work.out), static_cast<float*>(work.lse), scale_of(work));
}

template <int kDim>
cudaError_t backward(cudaStream_t stream, const AttentionBackward& work) {
  const BackwardPointers pointers = {
      static_cast<const Bf16*>(work.q),    static_cast<const Bf16*>(work.k),
      static_cast<const Bf16*>(work.v),    static_cast<const Bf16*>(work.out),
      static_cast<const Bf16*>(work.dout), static_cast<const float*>(work.lse),
      static_cast<Bf16*>(work.dq),         static_cast<Bf16*>(work.dk),
      static_cast<Bf16*>(work.dv)};
  const cudaError_t status =
      launch_kernel(attention_dq<kDim>, grid_of(work, work.heads), dim3(kMmaThreads),
                    kBackwardBytes<kDim>, stream, shape_of(work), pointers, scale_of(work));
  if (status != cudaSuccess) return status;
  return launch_kernel(attention_dkv<kDim>, grid_of(work, work.kv_heads), dim3(kMmaThreads),
                       kBackwardBytes<kDim>, stream, shape_of(work), pointers, scale_of(work));
}

}  // namespace

cudaError_t launch_mma(cudaStream_t stream, const Attention& work) {
  return work.head_dim <= 64 ? forward<64>(stream, work) : forward<128>(stream, work);
}
cudaError_t launch_mma(cudaStream_t stream, const AttentionBackward& work) {
  return work.head_dim <= 64 ? backward<64>(stream, work) : backward<128>(stream, work);
}

}  // namespace amsp::cuda
