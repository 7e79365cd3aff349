#include "executor/host/host_device.h"

#include <cstring>
#include <fstream>

#include "core/error.h"
#include "executor/host/blas.h"
#include "executor/host/host_memory.h"
#include "executor/host/host_stream.h"
#include "executor/host/kernels.h"

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

  std::unique_ptr<Stream> make_stream(const std::string& name) override {
    return std::make_unique<HostStream>(name);
  }
  std::unique_ptr<Event> make_event() override { return std::make_unique<HostEvent>(); }
  std::shared_ptr<void> allocate(std::size_t bytes) override { return allocate_host_memory(bytes); }

  void upload(Stream& stream, void* to, const void* host, std::size_t bytes) override {
    copy(stream, to, host, bytes);
  }
  void download(Stream& stream, void* host, const void* from, std::size_t bytes) override {
    copy(stream, host, from, bytes);
  }
  void zero(Stream& stream, void* to, std::size_t bytes) override {
    dynamic_cast<HostStream&>(stream).enqueue([=] { std::memset(to, 0, bytes); });
  }

  void run(Stream& stream, const Gemm& work) override { enqueue(stream, work); }
  void run(Stream& stream, const AddBias& work) override { enqueue(stream, work); }
  void run(Stream& stream, const ColumnSum& work) override { enqueue(stream, work); }
  void run(Stream& stream, const RmsNorm& work) override { enqueue(stream, work); }
  void run(Stream& stream, const RmsNormBackward& work) override { enqueue(stream, work); }
  void run(Stream& stream, const Rotary& work) override { enqueue(stream, work); }
  void run(Stream& stream, const Attention& work) override { enqueue(stream, work); }
  void run(Stream& stream, const AttentionBackward& work) override { enqueue(stream, work); }
  void run(Stream& stream, const SwiGlu& work) override { enqueue(stream, work); }
  void run(Stream& stream, const SwiGluBackward& work) override { enqueue(stream, work); }
  void run(Stream& stream, const Embedding& work) override { enqueue(stream, work); }
  void run(Stream& stream, const EmbeddingBackward& work) override { enqueue(stream, work); }
  void run(Stream& stream, const CrossEntropy& work) override { enqueue(stream, work); }
  void run(Stream& stream, const CrossEntropyBackward& work) override { enqueue(stream, work); }
  void run(Stream& stream, const Add& work) override { enqueue(stream, work); }
  void run(Stream& stream, const Convert& work) override { enqueue(stream, work); }
  void run(Stream& stream, const SumOfSquares& work) override { enqueue(stream, work); }
  void run(Stream& stream, const AdamW& work) override { enqueue(stream, work); }

 private:
  static void copy(Stream& stream, void* to, const void* from, std::size_t bytes) {
    dynamic_cast<HostStream&>(stream).enqueue([=] { std::memcpy(to, from, bytes); });
  }
  template <typename Work>
  static void enqueue(Stream& stream, const Work& work) {
    dynamic_cast<HostStream&>(stream).enqueue([work] { host::run(work); });
  }
};

}  // namespace

std::unique_ptr<Device> make_host_device() {
  return std::make_unique<HostDevice>();
}

}  // namespace amsp
