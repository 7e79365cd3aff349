// Kernels that give every output element to one thread.
#include "executor/cuda/kernels/kernel_support.cuh"

namespace amsp::cuda {
namespace {

template <class T>
__global__ void add_bias(std::int64_t rows, std::int64_t n, T* y, std::int64_t stride,
                         const T* bias) {
  for (std::int64_t i = grid_thread(); i < rows * n; i += grid_threads()) {
    T& out = y[i / n * stride + i % n];
    out = narrow<T>(widen(out) + widen(bias[i % n]));
  }
}

/// A thread per token and pair of a head; the angle is that of all heads. In fp64: the angle grows
/// with the position, so fp32 would lose its fraction.
template <class T>
__global__ void rotary(std::int64_t tokens, int sequence, int heads, int head_dim, double theta,
                       T* x, std::int64_t stride, bool inverse) {
  using W = Wide<T>;
  const int half = head_dim / 2;
  for (std::int64_t i = grid_thread(); i < tokens * half; i += grid_threads()) {
    const std::int64_t token = i / half;
    const int pair = static_cast<int>(i % half);
    const double angle = static_cast<double>(token % sequence) * pow(theta, -2.0 * pair / head_dim);
    const W cosine = static_cast<W>(cos(angle));
    const W sine = static_cast<W>(inverse ? -sin(angle) : sin(angle));
    for (int head = 0; head < heads; ++head) {
      T* low = x + token * stride + std::int64_t{head} * head_dim + pair;
      const W a = widen(low[0]);
      const W b = widen(low[half]);
      low[0] = narrow<T>(a * cosine - b * sine);
      low[half] = narrow<T>(b * cosine + a * sine);
    }
  }
}

template <class T>
__global__ void swiglu(std::int64_t rows, std::int64_t n, const T* gate, const T* up,
                       std::int64_t stride, T* y) {
  using W = Wide<T>;
  for (std::int64_t i = grid_thread(); i < rows * n; i += grid_threads()) {
    const std::int64_t at = i / n * stride + i % n;
    const W g = widen(gate[at]);
    y[i] = narrow<T>(g / (W(1) + exp_of(-g)) * widen(up[at]));
  }
}

template <class T>
__global__ void swiglu_backward(std::int64_t rows, std::int64_t n, const T* gate, const T* up,
                                std::int64_t stride, const T* dy, T* dgate, T* dup) {
  using W = Wide<T>;
  for (std::int64_t i = grid_thread(); i < rows * n; i += grid_threads()) {
    const std::int64_t at = i / n * stride + i % n;
    const W g = widen(gate[at]);
    const W u = widen(up[at]);
    const W d = widen(dy[i]);
    const W sigmoid = W(1) / (W(1) + exp_of(-g));
    dgate[at] = narrow<T>(d * u * sigmoid * (W(1) + g * (W(1) - sigmoid)));
    dup[at] = narrow<T>(d * g * sigmoid);
  }
}

template <class T>
__global__ void embedding(std::int64_t rows, std::int64_t n, const std::int32_t* tokens,
                          const T* table, T* out) {
  for (std::int64_t i = grid_thread(); i < rows * n; i += grid_threads())
    out[i] = table[tokens[i / n] * n + i % n];
}

template <class T>
__global__ void cross_entropy_backward(std::int64_t rows, std::int64_t vocab, T* logits,
                                       const std::int32_t* targets, const Wide<T>* lse) {
  using W = Wide<T>;
  for (std::int64_t i = grid_thread(); i < rows * vocab; i += grid_threads()) {
    const std::int64_t row = i / vocab;
    const W probability = exp_of(widen(logits[i]) - lse[row]);
    const W target = i % vocab == targets[row] ? W(1) : W(0);
    logits[i] = narrow<T>((probability - target) / static_cast<W>(rows));
  }
}

template <class T>
__global__ void add(std::int64_t n, const T* a, const T* b, T* y) {
  for (std::int64_t i = grid_thread(); i < n; i += grid_threads())
    y[i] = narrow<T>(widen(a[i]) + widen(b[i]));
}

template <class From, class To>
__global__ void convert(std::int64_t n, const From* from, To* to, bool accumulate) {
  for (std::int64_t i = grid_thread(); i < n; i += grid_threads()) {
    if (accumulate)
      to[i] = narrow<To>(widen(to[i]) + widen(from[i]));
    else
      to[i] = narrow<To>(widen(from[i]));
  }
}

template <class T>
__global__ void sum_of_sources(SumOfSources work) {
  T* out = static_cast<T*>(work.out);
  for (std::int64_t i = grid_thread(); i < work.n; i += grid_threads()) {
    Wide<T> sum = widen(static_cast<const T*>(work.sources[0])[i]);
    for (int k = 1; k < work.count; ++k) sum += widen(static_cast<const T*>(work.sources[k])[i]);
    out[i] = narrow<T>(sum);
  }
}

template <class W>
struct AdamWConstants {
  W rate, beta1, rest1, beta2, rest2, eps, decay;  // rest: 1 - beta
  W correction1, correction2;                      // 1 - beta^step
  double grad_scale, max_norm;
  const W* sum_of_squares;
};

template <class T, class G>
__global__ void adamw(const AdamWPart* parts, const PartChunk* chunks, AdamWConstants<Wide<T>> c) {
  using W = Wide<T>;
  double factor = c.grad_scale;
  if (c.max_norm > 0) {
    const double norm = c.grad_scale * sqrt(static_cast<double>(*c.sum_of_squares));
    const double clip = c.max_norm / (norm + 1e-6);
    // Written so that a norm that is no number gives parameters that are none, not a step without
    // clipping.
    factor *= clip >= 1 ? 1.0 : clip;
  }
  const W scale = static_cast<W>(factor);
  const PartChunk chunk = chunks[blockIdx.x];
  const AdamWPart part = parts[chunk.part];
  const W decay = part.decay ? c.decay : W(0);
  for (std::int64_t i = chunk.first + threadIdx.x; i < chunk.first + chunk.count; i += blockDim.x) {
    const W g = widen(static_cast<const G*>(part.grad)[i]) * scale;
    W& master = static_cast<W*>(part.master)[i];
    W& m = static_cast<W*>(part.m)[i];
    W& v = static_cast<W*>(part.v)[i];
    m = c.beta1 * m + c.rest1 * g;
    v = c.beta2 * v + c.rest2 * g * g;
    const W step = m / c.correction1 / (sqrt_of(v / c.correction2) + c.eps);
    master -= c.rate * (step + decay * master);
    static_cast<T*>(part.param)[i] = narrow<T>(master);
  }
}

}  // namespace

cudaError_t launch(cudaStream_t stream, const AddBias& work) {
  return by_type(work.type, [&](auto tag) {
    using T = typename decltype(tag)::Type;
    return launch_over(work.rows * work.n, add_bias<T>, stream, work.rows, work.n,
                       static_cast<T*>(work.y), work.stride, static_cast<const T*>(work.bias));
  });
}

cudaError_t launch(cudaStream_t stream, const Rotary& work) {
  if (work.head_dim % 2 != 0) return cudaErrorInvalidValue;
  return by_type(work.type, [&](auto tag) {
    using T = typename decltype(tag)::Type;
    const std::int64_t tokens = std::int64_t{work.batch} * work.sequence;
    return launch_over(tokens * (work.head_dim / 2), rotary<T>, stream, tokens, work.sequence,
                       work.heads, work.head_dim, work.theta, static_cast<T*>(work.x), work.stride,
                       work.inverse);
  });
}

cudaError_t launch(cudaStream_t stream, const SwiGlu& work) {
  return by_type(work.type, [&](auto tag) {
    using T = typename decltype(tag)::Type;
    return launch_over(work.rows * work.n, swiglu<T>, stream, work.rows, work.n,
                       static_cast<const T*>(work.gate), static_cast<const T*>(work.up),
                       work.stride, static_cast<T*>(work.y));
  });
}

cudaError_t launch(cudaStream_t stream, const SwiGluBackward& work) {
  return by_type(work.type, [&](auto tag) {
    using T = typename decltype(tag)::Type;
    return launch_over(work.rows * work.n, swiglu_backward<T>, stream, work.rows, work.n,
                       static_cast<const T*>(work.gate), static_cast<const T*>(work.up),
                       work.stride, static_cast<const T*>(work.dy), static_cast<T*>(work.dgate),
                       static_cast<T*>(work.dup));
  });
}

cudaError_t launch(cudaStream_t stream, const Embedding& work) {
  return by_type(work.type, [&](auto tag) {
    using T = typename decltype(tag)::Type;
    return launch_over(work.rows * work.n, embedding<T>, stream, work.rows, work.n, work.tokens,
                       static_cast<const T*>(work.table), static_cast<T*>(work.out));
  });
}

cudaError_t launch(cudaStream_t stream, const CrossEntropyBackward& work) {
  return by_type(work.type, [&](auto tag) {
    using T = typename decltype(tag)::Type;
    return launch_over(work.rows * work.vocab, cross_entropy_backward<T>, stream, work.rows,
                       work.vocab, static_cast<T*>(work.logits), work.targets,
                       static_cast<const Wide<T>*>(work.lse));
  });
}

cudaError_t launch(cudaStream_t stream, const Add& work) {
  return by_type(work.type, [&](auto tag) {
    using T = typename decltype(tag)::Type;
    return launch_over(work.n, add<T>, stream, work.n, static_cast<const T*>(work.a),
                       static_cast<const T*>(work.b), static_cast<T*>(work.y));
  });
}

cudaError_t launch(cudaStream_t stream, const Convert& work) {
  if (work.from_type == DType::kI32 && work.to_type == DType::kI32 && !work.accumulate)
    return cudaMemcpyAsync(work.to, work.from,
                           static_cast<std::size_t>(work.n * size_of(DType::kI32)),
                           cudaMemcpyDeviceToDevice, stream);
  return by_type(work.from_type, [&](auto from) {
    using From = typename decltype(from)::Type;
    return by_type(work.to_type, [&](auto to) {
      using To = typename decltype(to)::Type;
      return launch_over(work.n, convert<From, To>, stream, work.n,
                         static_cast<const From*>(work.from), static_cast<To*>(work.to),
                         work.accumulate);
    });
  });
}

cudaError_t launch(cudaStream_t stream, const SumOfSources& work) {
  if (work.count < 1 || work.count > kMaxSources) return cudaErrorInvalidValue;
  return by_type(work.type, [&](auto tag) {
    return launch_over(work.n, sum_of_sources<typename decltype(tag)::Type>, stream, work);
  });
}

cudaError_t launch(cudaStream_t stream, const AdamW& work, const AdamWPart* parts,
                   const PartChunk* chunks, std::int64_t chunk_count) {
  if (chunk_count == 0) return cudaSuccess;
  return by_types(work.type, work.grad_type, [&](auto tag, auto grad_tag) {
    using T = typename decltype(tag)::Type;
    using G = typename decltype(grad_tag)::Type;
    using W = Wide<T>;
    const auto steps = static_cast<double>(work.step);
    AdamWConstants<W> c = {};
    c.rate = static_cast<W>(work.learning_rate);
    c.beta1 = static_cast<W>(work.beta1);
    c.rest1 = static_cast<W>(1 - work.beta1);
    c.beta2 = static_cast<W>(work.beta2);
    c.rest2 = static_cast<W>(1 - work.beta2);
    c.eps = static_cast<W>(work.eps);
    c.decay = static_cast<W>(work.weight_decay);
    c.correction1 = static_cast<W>(1 - pow(work.beta1, steps));
    c.correction2 = static_cast<W>(1 - pow(work.beta2, steps));
    c.grad_scale = work.grad_scale;
    c.max_norm = work.max_norm;
    c.sum_of_squares = static_cast<const W*>(work.sum_of_squares);
    return launch_kernel(adamw<T, G>, dim3(static_cast<unsigned>(chunk_count)), dim3(kThreads), 0,
                         stream, parts, chunks, c);
  });
}

}  // namespace amsp::cuda
