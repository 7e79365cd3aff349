#include <chrono>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <vector>

#include "core/error.h"
#include "cuda_bf16.h"
#include "cuda_runtime.h"
#include "executor/cuda/kernels/kernels.h"
#include "executor/cuda/kernels/parts.h"
#include "tests/executor/cuda/device_under_test.h"

namespace amsp {
namespace {

std::int64_t now_ns() {
  return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
}

class EagerEvent final : public Event {
 public:
  void synchronize() override {}
  std::int64_t time_ns() override { return recorded_ns_; }
  void record() { recorded_ns_ = now_ns(); }

 private:
  std::int64_t recorded_ns_ = 0;
};
class EagerStream final : public Stream {
 public:
  void label(const std::string&) override {}
  void wait(Event&) override {}
  void record(Event& event) override { dynamic_cast<EagerEvent&>(event).record(); }
  void synchronize() override {}
};

double element(DType type, const void* at, std::int64_t i) {
  if (type == DType::kBf16) return __bfloat162float(static_cast<const __nv_bfloat16*>(at)[i]);
  if (type == DType::kF32) return static_cast<const float*>(at)[i];
  return static_cast<const double*>(at)[i];
}
void set_element(DType type, void* at, std::int64_t i, double value) {
  if (type == DType::kBf16)
    static_cast<__nv_bfloat16*>(at)[i] = __double2bfloat16(value);
  else if (type == DType::kF32)
    static_cast<float*>(at)[i] = static_cast<float>(value);
  else
    static_cast<double*>(at)[i] = value;
}

/// The CUDA kernels on the CPU, each when it is enqueued. GEMM isn't one of ours: by definition.
class EmulatedDevice final : public Device {
 public:
  std::string name() const override { return "emulated cuda"; }
  std::string description() const override { return "CUDA kernels, run on the CPU"; }
  void require(DType, DType) const override {}
  void start_recording_kernels() override {
    throw ConfigError("emulated cuda: records no kernels");
  }
  KernelRuns take_kernels() override { return {}; }
  std::unique_ptr<Stream> make_stream(const std::string&) override {
    return std::make_unique<EagerStream>();
  }
  std::unique_ptr<Event> make_event() override { return std::make_unique<EagerEvent>(); }
  std::shared_ptr<void> allocate(std::size_t bytes) override {
    void* memory = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
    std::memset(memory, 0, bytes);
    return {memory, std::free};
  }
  void upload(Stream&, void* to, const void* host, std::size_t bytes) override {
    std::memcpy(to, host, bytes);
  }
  void download(Stream&, void* host, const void* from, std::size_t bytes) override {
    std::memcpy(host, from, bytes);
  }
  void zero(Stream&, void* to, std::size_t bytes) override { std::memset(to, 0, bytes); }

  void run(Stream&, const Gemm& work) override {
    for (std::int64_t i = 0; i < work.m; ++i)
      for (std::int64_t j = 0; j < work.n; ++j) {
        const std::int64_t at = i * work.c_stride + j;
        double sum = work.accumulate ? element(work.c_type, work.c, at) : 0;
        for (std::int64_t l = 0; l < work.k; ++l)
          sum += element(work.type, work.a,
                         work.transpose_a ? l * work.a_stride + i : i * work.a_stride + l) *
                 element(work.type, work.b,
                         work.transpose_b ? j * work.b_stride + l : l * work.b_stride + j);
        set_element(work.c_type, work.c, at, sum);
      }
  }
  void run(Stream&, const AddBias& work) override { check(cuda::launch(nullptr, work)); }
  void run(Stream&, const ColumnSum& work) override { check(cuda::launch(nullptr, work)); }
  void run(Stream&, const RmsNorm& work) override { check(cuda::launch(nullptr, work)); }
  void run(Stream&, const RmsNormBackward& work) override { check(cuda::launch(nullptr, work)); }
  void run(Stream&, const Rotary& work) override { check(cuda::launch(nullptr, work)); }
  void run(Stream&, const Attention& work) override { check(cuda::launch(nullptr, work)); }
  void run(Stream&, const AttentionBackward& work) override { check(cuda::launch(nullptr, work)); }
  void run(Stream&, const SwiGlu& work) override { check(cuda::launch(nullptr, work)); }
  void run(Stream&, const SwiGluBackward& work) override { check(cuda::launch(nullptr, work)); }
  void run(Stream&, const Embedding& work) override { check(cuda::launch(nullptr, work)); }
  void run(Stream&, const EmbeddingBackward& work) override { check(cuda::launch(nullptr, work)); }
  void run(Stream&, const CrossEntropy& work) override { check(cuda::launch(nullptr, work)); }
  void run(Stream&, const CrossEntropyBackward& work) override {
    check(cuda::launch(nullptr, work));
  }
  void run(Stream&, const Add& work) override { check(cuda::launch(nullptr, work)); }
  void run(Stream&, const Convert& work) override { check(cuda::launch(nullptr, work)); }
  void run(Stream&, const SumOfSquares& work) override {
    const std::vector<cuda::PartChunk> chunks = cuda::chunks_of(work.parts);
    std::vector<double> partial(chunks.size());
    check(cuda::launch(nullptr, work, work.parts.data(), chunks.data(),
                       static_cast<std::int64_t>(chunks.size()), partial.data()));
  }
  void run(Stream&, const AdamW& work) override {
    const std::vector<cuda::PartChunk> chunks = cuda::chunks_of(work.parts);
    check(cuda::launch(nullptr, work, work.parts.data(), chunks.data(),
                       static_cast<std::int64_t>(chunks.size())));
  }

 private:
  static void check(cudaError_t status) {
    if (status != cudaSuccess) throw std::runtime_error("no kernel for this work");
  }
};

}  // namespace

std::unique_ptr<Device> make_test_device() {
  return std::make_unique<EmulatedDevice>();
}
bool set_descending_threads(bool descending) {
  emulator::set_thread_order(descending);
  return true;
}

}  // namespace amsp
