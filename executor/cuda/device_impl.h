#pragma once

#include <memory>
#include <string>

#include "executor/cuda/cuda_device.h"
#include "executor/cuda/cuda_stream.h"
#include "executor/cuda/gemm.h"
#include "executor/cuda/part_tables.h"
#include "executor/cuda/staging.h"

namespace amsp::cuda {

class CudaDevice final : public Device {
 public:
  explicit CudaDevice(const CudaOptions& options);
  ~CudaDevice() override;

  /// For communicators.
  const std::shared_ptr<Context>& context() const { return context_; }

  std::string name() const override { return "cuda"; }
  std::string description() const override;
  void require(DType type, DType grad_type) const override;
  void start_recording_kernels() override;
  KernelRuns take_kernels() override;

  std::unique_ptr<Stream> make_stream(const std::string& name) override;
  std::unique_ptr<Event> make_event() override;
  std::shared_ptr<void> allocate(std::size_t bytes) override;
  void upload(Stream& stream, void* to, const void* host, std::size_t bytes) override;
  void download(Stream& stream, void* host, const void* from, std::size_t bytes) override;
  void zero(Stream& stream, void* to, std::size_t bytes) override;

  void run(Stream& stream, const Gemm& work) override;
  void run(Stream& stream, const AddBias& work) override;
  void run(Stream& stream, const ColumnSum& work) override;
  void run(Stream& stream, const RmsNorm& work) override;
  void run(Stream& stream, const RmsNormBackward& work) override;
  void run(Stream& stream, const Rotary& work) override;
  void run(Stream& stream, const Attention& work) override;
  void run(Stream& stream, const AttentionBackward& work) override;
  void run(Stream& stream, const SwiGlu& work) override;
  void run(Stream& stream, const SwiGluBackward& work) override;
  void run(Stream& stream, const Embedding& work) override;
  void run(Stream& stream, const EmbeddingBackward& work) override;
  void run(Stream& stream, const CrossEntropy& work) override;
  void run(Stream& stream, const CrossEntropyBackward& work) override;
  void run(Stream& stream, const Add& work) override;
  void run(Stream& stream, const Convert& work) override;
  void run(Stream& stream, const SumOfSquares& work) override;
  void run(Stream& stream, const AdamW& work) override;

 private:
  std::shared_ptr<Context> context_;
  std::shared_ptr<cudaStream_t> service_;  // for what must be done at once: zeros, tables
  Staging staging_;
  GemmEngine gemm_;
  PartTables tables_;
};

/// The device behind the interface. Throws ConfigError if it isn't this one.
CudaDevice& cuda_device(Device& device);

}  // namespace amsp::cuda
