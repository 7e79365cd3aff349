#include "executor/host/host_device.h"

#include <cstring>
#include <fstream>

#include "core/error.h"
#include "executor/host/host_memory.h"
#include "executor/host/host_stream.h"
#include "executor/host/kernels/blas.h"
#include "executor/host/kernels/kernels.h"

namespace amsp {
namespace {

std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name"))
      if (const auto colon = line.find(": "); colon != std::string::npos)
        return line.substr(colon + 2);
  return "processor of unknown model";
}

class HostDevice : public Device {
 public:
  HostDevice() { host::load_blas(); }

  std::string name() const override { return "host"; }
  std::string description() const override {
    return processor_name() + ", " + host::describe_blas() + ", 1 thread";
  }

  void require(DType type, DType grad_type) const override {
    if (type == DType::kI32 || (grad_type != type && wide(type) != grad_type))
      throw ConfigError(fmt::format(
          "the host device can't compute in {} with gradients in {}: it can in fp64 with fp64, "
          "fp32 with fp32, bf16 with bf16 or fp32",
          to_string(type), to_string(grad_type)));
  }

  void start_recording_kernels() override { recorder_->start(); }
  KernelRuns take_kernels() override {
    AMSP_CHECK(recorder_->on(), "kernels of a device that records none");
    return {recorder_->take(), 0, 0};
  }

  std::unique_ptr<Stream> make_stream(const std::string& name) override {
    return std::make_unique<HostStream>(name, recorder_);
  }
  std::unique_ptr<Event> make_event() override { return std::make_unique<HostEvent>(); }
  std::shared_ptr<void> allocate(std::size_t bytes) override { return allocate_host_memory(bytes); }

  void upload(Stream& stream, void* to, const void* host, std::size_t bytes) override {
    copy(stream, to, host, bytes, "upload");
  }
  void download(Stream& stream, void* host, const void* from, std::size_t bytes) override {
    copy(stream, host, from, bytes, "download");
  }
  void zero(Stream& stream, void* to, std::size_t bytes) override {
    dynamic_cast<HostStream&>(stream).enqueue([=] { std::memset(to, 0, bytes); }, "zero");
  }

  void run(Stream& stream, const Gemm& work) override { enqueue(stream, work, "gemm"); }
  void run(Stream& stream, const AddBias& work) override { enqueue(stream, work, "add_bias"); }
  void run(Stream& stream, const ColumnSum& work) override { enqueue(stream, work, "column_sum"); }
  void run(Stream& stream, const RmsNorm& work) override { enqueue(stream, work, "rms_norm"); }
  void run(Stream& stream, const RmsNormBackward& work) override {
    enqueue(stream, work, "rms_norm_backward");
  }
  void run(Stream& stream, const Rotary& work) override { enqueue(stream, work, "rotary"); }
  void run(Stream& stream, const Attention& work) override { enqueue(stream, work, "attention"); }
  void run(Stream& stream, const AttentionBackward& work) override {
    enqueue(stream, work, "attention_backward");
  }
  void run(Stream& stream, const SwiGlu& work) override { enqueue(stream, work, "swiglu"); }
  void run(Stream& stream, const SwiGluBackward& work) override {
    enqueue(stream, work, "swiglu_backward");
  }
  void run(Stream& stream, const Embedding& work) override { enqueue(stream, work, "embedding"); }
  void run(Stream& stream, const EmbeddingBackward& work) override {
    enqueue(stream, work, "embedding_backward");
  }
  void run(Stream& stream, const CrossEntropy& work) override {
    enqueue(stream, work, "cross_entropy");
  }
  void run(Stream& stream, const CrossEntropyBackward& work) override {
    enqueue(stream, work, "cross_entropy_backward");
  }
  void run(Stream& stream, const Add& work) override { enqueue(stream, work, "add"); }
  void run(Stream& stream, const Convert& work) override { enqueue(stream, work, "convert"); }
  void run(Stream& stream, const SumOfSquares& work) override {
    enqueue(stream, work, "sum_of_squares");
  }
  void run(Stream& stream, const AdamW& work) override { enqueue(stream, work, "adamw"); }

 private:
  static void copy(Stream& stream, void* to, const void* from, std::size_t bytes,
                   const char* kernel) {
    dynamic_cast<HostStream&>(stream).enqueue([=] { std::memcpy(to, from, bytes); }, kernel);
  }
  template <typename Work>
  static void enqueue(Stream& stream, const Work& work, const char* kernel) {
    dynamic_cast<HostStream&>(stream).enqueue([work] { host::run(work); }, kernel);
  }

  std::shared_ptr<HostKernelRecorder> recorder_ = std::make_shared<HostKernelRecorder>();
};

}  // namespace

std::unique_ptr<Device> make_host_device() {
  return std::make_unique<HostDevice>();
}

}  // namespace amsp
