#include <benchmark/benchmark.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "executor/host/host_device.h"
#include "executor/host/kernels/kernels.h"

namespace amsp {
namespace {

/// Kernels of the host device in the benchmark's own thread: CPU time is theirs alone, so that
/// rates are those of one core.
class Arena {
 public:
  /// Elements of `type`: multiples of 1/64 in [-1, 1).
  void* numbers(DType type, std::int64_t n) {
    std::vector<float> values(static_cast<std::size_t>(n));
    std::uint32_t state = 1;
    for (float& value : values) {
      state = state * 1664525 + 1013904223;
      value = static_cast<float>(state >> 25) / 64 - 1;
    }
    void* const data = bytes(static_cast<std::size_t>(n * size_of(type)));
    host::run(Convert{n, DType::kF32, values.data(), type, data, false});
    return data;
  }
  void* bytes(std::size_t count) {
    buffers_.push_back(device_->allocate(count));
    return buffers_.back().get();
  }

 private:
  std::unique_ptr<Device> device_ = make_host_device();
  std::vector<std::shared_ptr<void>> buffers_;
};

template <typename Work>
void measure(benchmark::State& state, const Work& work, double flop, double elements) {
  host::run(work);  // scratch memory, pages
  for (auto _ : state) host::run(work);
  const auto total = static_cast<double>(state.iterations());
  if (flop > 0) state.counters["FLOP/s"] = {flop * total, benchmark::Counter::kIsRate};
  if (elements > 0) state.counters["elements/s"] = {elements * total, benchmark::Counter::kIsRate};
}

DType type_of(const benchmark::State& state) {
  return static_cast<DType>(state.range(0));
}

void run_gemm(benchmark::State& state) {
  const DType type = type_of(state);
  const std::int64_t rows = state.range(1), h = state.range(2);
  Arena arena;
  measure(state,
          Gemm{type, type, rows, h, h, arena.numbers(type, rows * h), h, false,
               arena.numbers(type, h * h), h, true, arena.numbers(type, rows * h), h, false},
          2.0 * static_cast<double>(rows * h * h), 0);
}

/// Counted as the pairs at or below the diagonal, so that what is computed above it is waste.
double attention_flop(double products, double sequence, double heads, double d) {
  return products * 2 * heads * d * sequence * (sequence + 1) / 2;
}

void run_attention(benchmark::State& state) {
  const DType type = type_of(state);
  const auto sequence = static_cast<int>(state.range(1)), d = static_cast<int>(state.range(3));
  const auto h = static_cast<int>(state.range(2)), heads = h / d;
  Arena arena;
  const std::int64_t n = std::int64_t{sequence} * h;
  measure(state,
          Attention{type, 1, sequence, heads, heads, d, arena.numbers(type, n), h,
                    arena.numbers(type, n), arena.numbers(type, n), h, arena.numbers(type, n),
                    arena.numbers(DType::kF64, n)},
          attention_flop(2, sequence, heads, d), 0);
}

void run_attention_backward(benchmark::State& state) {
  const DType type = type_of(state);
  const auto sequence = static_cast<int>(state.range(1)), d = static_cast<int>(state.range(3));
  const auto h = static_cast<int>(state.range(2)), heads = h / d;
  Arena arena;
  const std::int64_t n = std::int64_t{sequence} * h;
  void* const q = arena.numbers(type, n);
  void* const k = arena.numbers(type, n);
  void* const v = arena.numbers(type, n);
  void* const out = arena.numbers(type, n);
  void* const lse = arena.numbers(DType::kF64, n);
  host::run(Attention{type, 1, sequence, heads, heads, d, q, h, k, v, h, out, lse});
  measure(state,
          AttentionBackward{type, 1, sequence, heads, heads, d, q, h, k, v, h, out, lse,
                            arena.numbers(type, n), arena.numbers(type, n), arena.numbers(type, n),
                            arena.numbers(type, n)},
          attention_flop(5, sequence, heads, d), 0);
}

void run_rms_norm(benchmark::State& state) {
  const DType type = type_of(state);
  Arena arena;
  measure(state,
          RmsNorm{type, 512, 1024, 1e-5, arena.numbers(type, 512 * 1024), arena.numbers(type, 1024),
                  arena.numbers(type, 512 * 1024), arena.numbers(DType::kF64, 512)},
          0, 512 * 1024);
}

void run_rms_norm_backward(benchmark::State& state) {
  const DType type = type_of(state);
  Arena arena;
  measure(state,
          RmsNormBackward{type, type, 512, 1024, arena.numbers(type, 512 * 1024),
                          arena.numbers(type, 512 * 1024), arena.numbers(type, 1024),
                          arena.numbers(DType::kF64, 512), arena.numbers(type, 512 * 1024),
                          arena.numbers(type, 1024), false},
          0, 512 * 1024);
}

void run_rotary(benchmark::State& state) {
  const DType type = type_of(state);
  Arena arena;
  measure(state, Rotary{type, 1, 512, 16, 64, 1e4, arena.numbers(type, 512 * 1024), 1024, false}, 0,
          512 * 1024);
}

void run_swiglu(benchmark::State& state) {
  const DType type = type_of(state);
  Arena arena;
  measure(state,
          SwiGlu{type, 512, 1024, arena.numbers(type, 512 * 1024), arena.numbers(type, 512 * 1024),
                 1024, arena.numbers(type, 512 * 1024)},
          0, 512 * 1024);
}

void run_swiglu_backward(benchmark::State& state) {
  const DType type = type_of(state);
  Arena arena;
  measure(state,
          SwiGluBackward{type, 512, 1024, arena.numbers(type, 512 * 1024),
                         arena.numbers(type, 512 * 1024), 1024, arena.numbers(type, 512 * 1024),
                         arena.numbers(type, 512 * 1024), arena.numbers(type, 512 * 1024)},
          0, 512 * 1024);
}

void run_cross_entropy(benchmark::State& state) {
  const DType type = type_of(state);
  Arena arena;
  const void* const targets = arena.bytes(64 * 4);
  measure(
      state,
      CrossEntropy{type, 64, 8192, arena.numbers(type, 64 * 8192),
                   static_cast<const std::int32_t*>(targets), arena.bytes(8), arena.bytes(64 * 8)},
      0, 64 * 8192);
}

void run_adamw(benchmark::State& state) {
  const DType type = type_of(state);
  Arena arena;
  const std::int64_t n = 512 * 1024;
  const std::vector<AdamWPart> parts = {{arena.numbers(wide(type), n), arena.bytes(n * 8),
                                         arena.bytes(n * 8), arena.numbers(type, n),
                                         arena.numbers(type, n), n, true}};
  measure(state, AdamW{type, type, parts, 1e-3, 0.9, 0.95, 1e-8, 0.1, 1, 1.0, 0.0, nullptr}, 0, n);
}

void run_sum_of_squares(benchmark::State& state) {
  const DType type = type_of(state);
  Arena arena;
  const std::int64_t n = 512 * 1024;
  const std::vector<GradPart> parts = {{arena.numbers(type, n), n}};
  measure(state, SumOfSquares{type, wide(type), parts, arena.bytes(8)}, 0, n);
}

constexpr auto kF32 = static_cast<std::int64_t>(DType::kF32);
constexpr auto kBf16 = static_cast<std::int64_t>(DType::kBf16);

BENCHMARK(run_gemm)
    ->ArgNames({"type", "T", "h"})
    ->ArgsProduct({{kF32, kBf16}, {512, 1024}, {512, 1024}})
    ->Unit(benchmark::kMillisecond);
BENCHMARK(run_attention)
    ->ArgNames({"type", "T", "h", "d"})
    ->ArgsProduct({{kF32, kBf16}, {512, 1024}, {512, 1024}, {64, 128}})
    ->Unit(benchmark::kMillisecond);
BENCHMARK(run_attention_backward)
    ->ArgNames({"type", "T", "h", "d"})
    ->ArgsProduct({{kF32, kBf16}, {512, 1024}, {512, 1024}, {64, 128}})
    ->Unit(benchmark::kMillisecond);
void both_types(benchmark::internal::Benchmark* benchmark) {
  benchmark->ArgName("type")->Arg(kF32)->Arg(kBf16)->Unit(benchmark::kMicrosecond);
}
BENCHMARK(run_rms_norm)->Apply(both_types);
BENCHMARK(run_rms_norm_backward)->Apply(both_types);
BENCHMARK(run_rotary)->Apply(both_types);
BENCHMARK(run_swiglu)->Apply(both_types);
BENCHMARK(run_swiglu_backward)->Apply(both_types);
BENCHMARK(run_cross_entropy)->Apply(both_types);
BENCHMARK(run_adamw)->Apply(both_types);
BENCHMARK(run_sum_of_squares)->Apply(both_types);

}  // namespace
}  // namespace amsp
