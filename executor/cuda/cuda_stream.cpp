#include "executor/cuda/cuda_stream.h"

#include <nvtx3/nvToolsExt.h>

#include "core/error.h"
#include "executor/cuda/check.h"
#include "executor/cuda/kernel_ledger.h"

namespace amsp::cuda {
namespace {

// NVIDIA's recommendation for Hopper; more than enough before it.
constexpr std::size_t kWorkspaceBytes = std::size_t{32} << 20;

CudaEvent& cuda_event(Event& event) {
  auto* ours = dynamic_cast<CudaEvent*>(&event);
  AMSP_CHECK(ours != nullptr, "an event of another device");
  return *ours;
}

int bound(int ordinal) {
  check(cudaSetDevice(ordinal), "cudaSetDevice");
  return ordinal;
}

}  // namespace

Context::Context(int ordinal_, std::chrono::milliseconds stall_timeout)
    : ordinal(bound(ordinal_)), watch(stall_timeout) {}

void Context::bind() const {
  check(cudaSetDevice(ordinal), "cudaSetDevice");
}

CudaEvent::CudaEvent(std::shared_ptr<Context> context) : context_(std::move(context)) {
  context_->bind();
  check(cudaEventCreate(&event_), "cudaEventCreate");
}
CudaEvent::~CudaEvent() {
  cudaEventDestroy(event_);
}

void CudaEvent::synchronize() {
  AMSP_CHECK(base_ != nullptr, "synchronize() on an event that was never recorded");
  context_->bind();
  context_->watch.wait([&] { return cudaEventQuery(event_); }, after_);
}

std::int64_t CudaEvent::time_ns() {
  AMSP_CHECK(base_ != nullptr, "time_ns() of an event that was never recorded");
  context_->bind();
  return Clock::time_ns(*base_, event_);
}

CudaStream::CudaStream(std::shared_ptr<Context> context, const std::string& name)
    : context_(std::move(context)), default_label_("stream " + name) {
  context_->bind();
  const bool compute = name.starts_with("compute");
  int least = 0;
  int greatest = 0;
  check(cudaDeviceGetStreamPriorityRange(&least, &greatest), "cudaDeviceGetStreamPriorityRange");
  check(cudaStreamCreateWithPriority(&stream_, cudaStreamNonBlocking, compute ? least : greatest),
        "cudaStreamCreateWithPriority");
  if (!compute) return;
  if (const cudaError_t status = cudaMalloc(&workspace_, kWorkspaceBytes); status != cudaSuccess) {
    cudaStreamDestroy(stream_);
    check(status, default_label_ + ": workspace of 32 MiB");
  }
  workspace_bytes_ = kWorkspaceBytes;
}

CudaStream::~CudaStream() {
  cudaStreamDestroy(stream_);
  cudaFree(workspace_);
}

cudaStream_t CudaStream::begin() const {
  context_->bind();
  context_->watch.check();
  return stream_;
}

void CudaStream::wait(Event& event) {
  CudaEvent& ours = cuda_event(event);
  AMSP_CHECK(ours.base_ != nullptr, "wait for an event that was never recorded");
  check(cudaStreamWaitEvent(begin(), ours.event_, cudaEventWaitDefault), *label_);
}

void CudaStream::record(Event& event) {
  CudaEvent& ours = cuda_event(event);
  const cudaStream_t stream = begin();
  ours.base_ = context_->clock.base();
  ours.after_ = *label_;
  check(cudaEventRecord(ours.event_, stream), *label_);
}

void CudaStream::synchronize() {
  const cudaStream_t stream = begin();
  context_->watch.wait([&] { return cudaStreamQuery(stream); }, *label_);
}

CudaStream& cuda_stream(Stream& stream) {
  auto* ours = dynamic_cast<CudaStream*>(&stream);
  AMSP_CHECK(ours != nullptr, "a stream of another device");
  return *ours;
}

Range::Range(const CudaStream& stream) : recorded_(stream.context().records_kernels) {
  nvtxRangePushA(stream.label_text().c_str());
  if (recorded_) kernel_ledger().open(&stream.context(), stream.label_text());
}
Range::~Range() {
  if (recorded_) kernel_ledger().close();
  nvtxRangePop();
}

}  // namespace amsp::cuda
