#pragma once

#include <cuda_runtime_api.h>

#include <atomic>
#include <memory>
#include <string>

#include "executor/cuda/clock.h"
#include "executor/cuda/watch.h"
#include "executor/interface/stream.h"

namespace amsp::cuda {

/// What streams, events and communicators of one device share.
struct Context {
  Context(int ordinal, std::chrono::milliseconds stall_timeout);

  /// Makes this context's device the calling thread's. Every entry from outside does.
  void bind() const;

  const int ordinal;
  Watch watch;
  Clock clock;
  std::atomic<bool> records_kernels = false;
};

class CudaEvent final : public Event {
 public:
  explicit CudaEvent(std::shared_ptr<Context> context);
  ~CudaEvent() override;
  CudaEvent(const CudaEvent&) = delete;
  CudaEvent& operator=(const CudaEvent&) = delete;
  void synchronize() override;
  std::int64_t time_ns() override;

 private:
  friend class CudaStream;
  std::shared_ptr<Context> context_;
  cudaEvent_t event_ = nullptr;
  std::shared_ptr<const Clock::Base> base_;  // that of the last record(); null before
  std::string after_;                        // the label at the last record()
};

/// Errors of enqueuing are thrown by the call that enqueues; those of running work by
/// synchronize(), and by whatever is enqueued later.
class CudaStream final : public Stream {
 public:
  /// High priority unless the name starts with "compute": a kernel of communication holds a few SMs
  /// that others wait for. A compute stream gets the workspace of its GEMMs.
  CudaStream(std::shared_ptr<Context> context, const std::string& name);
  ~CudaStream() override;
  CudaStream(const CudaStream&) = delete;
  CudaStream& operator=(const CudaStream&) = delete;

  void label(const std::string& text) override { label_ = &text; }
  void wait(Event& event) override;
  void record(Event& event) override;
  void synchronize() override;

  /// To be called before work is enqueued: binds the thread, throws if the device has failed.
  cudaStream_t begin() const;
  cudaStream_t get() const { return stream_; }
  /// "stream compute" before the first label.
  const std::string& label_text() const { return *label_; }
  const Context& context() const { return *context_; }
  void* workspace() const { return workspace_; }
  std::size_t workspace_bytes() const { return workspace_bytes_; }

 private:
  std::shared_ptr<Context> context_;
  const std::string default_label_;
  const std::string* label_ = &default_label_;
  cudaStream_t stream_ = nullptr;
  void* workspace_ = nullptr;
  std::size_t workspace_bytes_ = 0;
};

/// The stream behind the interface. Throws InternalError if it's another device's.
CudaStream& cuda_stream(Stream& stream);

/// A range in NVTX profilers, named by the stream's label, as long as this object lives; what is
/// launched meanwhile is recorded as the label's, if the device records kernels. To be made around
/// everything that is enqueued.
class Range {
 public:
  explicit Range(const CudaStream& stream);
  ~Range();
  Range(const Range&) = delete;
  Range& operator=(const Range&) = delete;

 private:
  const bool recorded_;
};

}  // namespace amsp::cuda
