#include "executor/cuda/device_impl.h"

#include <fmt/core.h>
#include <unistd.h>

#include <array>
#include <cstdlib>

#include "core/error.h"
#include "executor/cuda/check.h"
#include "executor/cuda/cupti_records.h"
#include "executor/cuda/kernel_ledger.h"
#include "executor/cuda/kernels/kernels.h"

namespace amsp {
namespace cuda {
namespace {

constexpr double kGiB = 1 << 30;

int checked_ordinal(int ordinal) {
  if (const std::string why = why_no_cuda_device(); !why.empty())
    throw DeviceError("no CUDA device: " + why);
  int count = 0;
  check(cudaGetDeviceCount(&count), "cudaGetDeviceCount");
  if (ordinal < 0 || ordinal >= count)
    throw DeviceError(fmt::format("no CUDA device {}: the process sees {}", ordinal, count));
  return ordinal;
}

std::shared_ptr<cudaStream_t> make_service_stream() {
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
  return {new cudaStream_t(stream), [](cudaStream_t* it) {
            cudaStreamDestroy(*it);
            delete it;
          }};
}

template <class Work>
void enqueue(Stream& stream, const Work& work, const char* kernel) {
  CudaStream& ours = cuda_stream(stream);
  const cudaStream_t on = ours.begin();
  const Range range(ours);
  if (const cudaError_t status = launch(on, work); status != cudaSuccess)
    check(status, fmt::format("{}: {}", ours.label_text(), kernel));
}

}  // namespace

CudaDevice::CudaDevice(const CudaOptions& options)
    : context_(std::make_shared<Context>(checked_ordinal(options.ordinal), options.stall_timeout)),
      service_(make_service_stream()),
      tables_(*service_) {}

CudaDevice::~CudaDevice() {
  if (context_->records_kernels) kernel_ledger().forget(context_.get());
  cudaSetDevice(context_->ordinal);
}

std::string CudaDevice::description() const {
  cudaDeviceProp properties;
  int driver = 0;
  int runtime = 0;
  check(cudaGetDeviceProperties(&properties, context_->ordinal), "cudaGetDeviceProperties");
  check(cudaDriverGetVersion(&driver), "cudaDriverGetVersion");
  check(cudaRuntimeGetVersion(&runtime), "cudaRuntimeGetVersion");
  return fmt::format("{} (compute capability {}.{}, {:.1f} GiB), CUDA {}.{}, driver for {}.{}, {}",
                     properties.name, properties.major, properties.minor,
                     static_cast<double>(properties.totalGlobalMem) / kGiB, runtime / 1000,
                     runtime % 1000 / 10, driver / 1000, driver % 1000 / 10, GemmEngine::version());
}

void CudaDevice::require(DType type, DType grad_type) const {
  constexpr std::array kPairs = {
      std::pair{DType::kBf16, DType::kBf16}, std::pair{DType::kBf16, DType::kF32},
      std::pair{DType::kF32, DType::kF32}, std::pair{DType::kF64, DType::kF64}};
  for (const auto& pair : kPairs)
    if (pair == std::pair{type, grad_type}) return;
  throw ConfigError(
      fmt::format("device cuda: has no kernels for {} with gradients in {}; it has bf16 with bf16 "
                  "or fp32, fp32 with fp32, fp64 with fp64",
                  to_string(type), to_string(grad_type)));
}

void CudaDevice::start_recording_kernels() {
  context_->bind();
  start_kernel_records();
  context_->records_kernels = true;
}
KernelRuns CudaDevice::take_kernels() {
  AMSP_CHECK(context_->records_kernels, "kernels of a device that records none");
  context_->bind();
  flush_kernel_records();
  return kernel_ledger().take(context_.get());
}

std::unique_ptr<Stream> CudaDevice::make_stream(const std::string& name) {
  return std::make_unique<CudaStream>(context_, name);
}
std::unique_ptr<Event> CudaDevice::make_event() {
  return std::make_unique<CudaEvent>(context_);
}

std::shared_ptr<void> CudaDevice::allocate(std::size_t bytes) {
  context_->bind();
  void* memory = nullptr;
  const cudaError_t status = cudaMalloc(&memory, std::max<std::size_t>(bytes, 1));
  if (status == cudaErrorMemoryAllocation) {
    cudaGetLastError();  // not sticky: the caller may go on
    std::size_t free = 0;
    std::size_t all = 0;
    check(cudaMemGetInfo(&free, &all), "cudaMemGetInfo");
    throw DeviceError(fmt::format(
        "out of memory on CUDA device {}: {:.3f} GiB asked for, {:.3f} GiB of {:.3f} GiB are free",
        context_->ordinal, static_cast<double>(bytes) / kGiB, static_cast<double>(free) / kGiB,
        static_cast<double>(all) / kGiB));
  }
  check(status, "cudaMalloc");
  std::shared_ptr<void> owner(memory, [context = context_](void* it) {
    cudaSetDevice(context->ordinal);
    cudaFree(it);
  });
  check(cudaMemsetAsync(memory, 0, bytes, *service_), "cudaMemsetAsync");
  check(cudaStreamSynchronize(*service_), "cudaMemsetAsync");
  return owner;
}

void CudaDevice::upload(Stream& stream, void* to, const void* host, std::size_t bytes) {
  const CudaStream& ours = cuda_stream(stream);
  const cudaStream_t on = ours.begin();
  const Range range(ours);
  staging_.upload(on, to, host, bytes);
}
void CudaDevice::download(Stream& stream, void* host, const void* from, std::size_t bytes) {
  const CudaStream& ours = cuda_stream(stream);
  const cudaStream_t on = ours.begin();
  const Range range(ours);
  staging_.download(on, host, from, bytes);
}
void CudaDevice::zero(Stream& stream, void* to, std::size_t bytes) {
  const CudaStream& ours = cuda_stream(stream);
  const cudaStream_t on = ours.begin();
  const Range range(ours);
  check(cudaMemsetAsync(to, 0, bytes, on), ours.label_text());
}

void CudaDevice::run(Stream& stream, const Gemm& work) {
  gemm_.enqueue(cuda_stream(stream), work);
}
void CudaDevice::run(Stream& stream, const AddBias& work) {
  enqueue(stream, work, "add bias");
}
void CudaDevice::run(Stream& stream, const ColumnSum& work) {
  enqueue(stream, work, "column sum");
}
void CudaDevice::run(Stream& stream, const RmsNorm& work) {
  enqueue(stream, work, "RMS norm");
}
void CudaDevice::run(Stream& stream, const RmsNormBackward& work) {
  enqueue(stream, work, "RMS norm backward");
}
void CudaDevice::run(Stream& stream, const Rotary& work) {
  enqueue(stream, work, "rotary");
}
void CudaDevice::run(Stream& stream, const Attention& work) {
  enqueue(stream, work, "attention");
}
void CudaDevice::run(Stream& stream, const AttentionBackward& work) {
  enqueue(stream, work, "attention backward");
}
void CudaDevice::run(Stream& stream, const SwiGlu& work) {
  enqueue(stream, work, "SwiGLU");
}
void CudaDevice::run(Stream& stream, const SwiGluBackward& work) {
  enqueue(stream, work, "SwiGLU backward");
}
void CudaDevice::run(Stream& stream, const Embedding& work) {
  enqueue(stream, work, "embedding");
}
void CudaDevice::run(Stream& stream, const EmbeddingBackward& work) {
  enqueue(stream, work, "embedding backward");
}
void CudaDevice::run(Stream& stream, const CrossEntropy& work) {
  enqueue(stream, work, "cross entropy");
}
void CudaDevice::run(Stream& stream, const CrossEntropyBackward& work) {
  enqueue(stream, work, "cross entropy backward");
}
void CudaDevice::run(Stream& stream, const Add& work) {
  enqueue(stream, work, "add");
}
void CudaDevice::run(Stream& stream, const Convert& work) {
  enqueue(stream, work, "convert");
}

void CudaDevice::run(Stream& stream, const SumOfSquares& work) {
  const CudaStream& ours = cuda_stream(stream);
  const cudaStream_t on = ours.begin();
  const Range range(ours);
  const PartTables::Table table = tables_.of(on, work.parts);
  check(launch(on, work, static_cast<const GradPart*>(table.parts), table.chunks, table.chunk_count,
               table.partial),
        ours.label_text() + ": sum of squares");
}
void CudaDevice::run(Stream& stream, const AdamW& work) {
  const CudaStream& ours = cuda_stream(stream);
  const cudaStream_t on = ours.begin();
  const Range range(ours);
  const PartTables::Table table = tables_.of(on, work.parts);
  check(
      launch(on, work, static_cast<const AdamWPart*>(table.parts), table.chunks, table.chunk_count),
      ours.label_text() + ": AdamW");
}

CudaDevice& cuda_device(Device& device) {
  auto* ours = dynamic_cast<CudaDevice*>(&device);
  if (ours == nullptr)
    throw ConfigError("this fabric connects CUDA devices, and the device is '" + device.name() +
                      "'");
  return *ours;
}

}  // namespace cuda

std::string why_no_cuda_device() {
  // CUDA reads it at its first call, and this one comes before all others.
  setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 0);
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status != cudaSuccess) return cudaGetErrorString(status);
  return count == 0 ? "the process sees none" : "";
}

int cuda_ordinal(World& world) {
  std::array<char, 256> host = {};
  gethostname(host.data(), host.size() - 1);
  const std::vector<std::string> hosts = world.exchange(host.data());
  int before = 0;
  for (Rank rank = 0; rank < world.rank(); ++rank)
    before += hosts[static_cast<std::size_t>(rank)] == host.data() ? 1 : 0;
  int count = 0;
  cuda::check(cudaGetDeviceCount(&count), "cudaGetDeviceCount");
  if (before >= count)
    throw ConfigError(fmt::format("rank {} is number {} of host {}, which has {} GPUs",
                                  world.rank(), before + 1, host.data(), count));
  return before;
}

std::unique_ptr<Device> make_cuda_device(const CudaOptions& options) {
  return std::make_unique<cuda::CudaDevice>(options);
}

}  // namespace amsp
