#pragma once

#include <cublasLt.h>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <tuple>

#include "executor/cuda/cuda_stream.h"
#include "executor/interface/device.h"

namespace amsp::cuda {

/// Matrix products by cuBLASLt: bf16 and fp32 accumulate in fp32 (no TF32), fp64 in fp64. What its
/// heuristic chose for a shape is kept. cuBLAS is column-major, where our row-major C = A B is
/// C^T = B^T A^T: the operands change places and nothing is transposed. Thread-safe.
class GemmEngine {
 public:
  GemmEngine();
  ~GemmEngine();
  GemmEngine(const GemmEngine&) = delete;
  GemmEngine& operator=(const GemmEngine&) = delete;

  /// Enqueues; throws DeviceError, with the shape, if cuBLASLt has no algorithm for it.
  void enqueue(CudaStream& stream, const Gemm& work);
  /// "cuBLASLt 13.0.2".
  static std::string version();

 private:
  struct Plan;
  /// All that the choice of an algorithm depends on: types, shape, strides, transposes, accumulate,
  /// alignment of the three pointers, bytes of workspace.
  using Key =
      std::tuple<DType, DType, std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t,
                 std::int64_t, bool, bool, bool, unsigned, unsigned, unsigned, std::size_t>;

  std::shared_ptr<const Plan> plan_of(CudaStream& stream, const Gemm& work);

  cublasLtHandle_t handle_ = nullptr;
  std::mutex mutex_;
  std::map<Key, std::shared_ptr<const Plan>> plans_;
};

}  // namespace amsp::cuda
