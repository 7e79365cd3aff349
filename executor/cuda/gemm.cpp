#include "executor/cuda/gemm.h"

#include <fmt/core.h>

#include "core/error.h"
#include "executor/cuda/check.h"

namespace amsp::cuda {
namespace {

cudaDataType_t data_type(DType type) {
  switch (type) {
    case DType::kBf16:
      return CUDA_R_16BF;
    case DType::kF32:
      return CUDA_R_32F;
    case DType::kF64:
      return CUDA_R_64F;
    case DType::kI32:
      break;
  }
  throw InternalError("a matrix product of int32");
}

/// The largest power of two, up to 256, that divides the address.
unsigned alignment(const void* pointer) {
  const auto address = reinterpret_cast<std::uintptr_t>(pointer) | 256;
  return static_cast<unsigned>(address & (~address + 1));
}

std::string describe(const Gemm& work) {
  return fmt::format(
      "gemm {} -> {}, m {}, n {}, k {}{}{}{}", to_string(work.type), to_string(work.c_type), work.m,
      work.n, work.k, work.transpose_a ? ", A transposed" : "",
      work.transpose_b ? ", B transposed" : "", work.accumulate ? ", accumulating" : "");
}

/// A row-major matrix as cuBLAS sees it: transposed.
cublasLtMatrixLayout_t make_layout(DType type, std::int64_t rows, std::int64_t columns,
                                   std::int64_t stride) {
  cublasLtMatrixLayout_t layout = nullptr;
  check(cublasLtMatrixLayoutCreate(&layout, data_type(type), static_cast<std::uint64_t>(columns),
                                   static_cast<std::uint64_t>(rows), stride),
        "cublasLtMatrixLayoutCreate");
  return layout;
}

template <class T>
void set(cublasLtMatmulDesc_t description, cublasLtMatmulDescAttributes_t attribute, T value) {
  check(cublasLtMatmulDescSetAttribute(description, attribute, &value, sizeof(value)),
        "cublasLtMatmulDescSetAttribute");
}
template <class T>
void set(cublasLtMatmulPreference_t preference, cublasLtMatmulPreferenceAttributes_t attribute,
         T value) {
  check(cublasLtMatmulPreferenceSetAttribute(preference, attribute, &value, sizeof(value)),
        "cublasLtMatmulPreferenceSetAttribute");
}

}  // namespace

struct GemmEngine::Plan {
  cublasLtMatmulDesc_t description = nullptr;
  cublasLtMatrixLayout_t a = nullptr, b = nullptr, c = nullptr;  // as in Gemm, not as in cuBLAS
  cublasLtMatmulAlgo_t algorithm = {};

  Plan() = default;
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;
  ~Plan() {
    if (c != nullptr) cublasLtMatrixLayoutDestroy(c);
    if (b != nullptr) cublasLtMatrixLayoutDestroy(b);
    if (a != nullptr) cublasLtMatrixLayoutDestroy(a);
    if (description != nullptr) cublasLtMatmulDescDestroy(description);
  }
};

GemmEngine::GemmEngine() {
  check(cublasLtCreate(&handle_), "cublasLtCreate");
}
GemmEngine::~GemmEngine() {
  plans_.clear();
  cublasLtDestroy(handle_);
}

std::string GemmEngine::version() {
  const std::size_t number = cublasLtGetVersion();  // 130002 is 13.0.2
  return fmt::format("cuBLASLt {}.{}.{}", number / 10000, number / 100 % 100, number % 100);
}

std::shared_ptr<const GemmEngine::Plan> GemmEngine::plan_of(CudaStream& stream, const Gemm& work) {
  const unsigned align_a = alignment(work.a);
  const unsigned align_b = alignment(work.b);
  const unsigned align_c = alignment(work.c);
  const Key key = {
      work.type,       work.c_type,   work.m,        work.n,           work.k,
      work.a_stride,   work.b_stride, work.c_stride, work.transpose_a, work.transpose_b,
      work.accumulate, align_a,       align_b,       align_c,          stream.workspace_bytes()};
  const std::lock_guard lock(mutex_);
  if (const auto known = plans_.find(key); known != plans_.end()) return known->second;

  auto plan = std::make_shared<Plan>();
  const bool fp64 = work.type == DType::kF64;
  check(cublasLtMatmulDescCreate(&plan->description, fp64 ? CUBLAS_COMPUTE_64F : CUBLAS_COMPUTE_32F,
                                 fp64 ? CUDA_R_64F : CUDA_R_32F),
        "cublasLtMatmulDescCreate");
  // cuBLAS's first operand is our B.
  set(plan->description, CUBLASLT_MATMUL_DESC_TRANSA,
      static_cast<std::int32_t>(work.transpose_b ? CUBLAS_OP_T : CUBLAS_OP_N));
  set(plan->description, CUBLASLT_MATMUL_DESC_TRANSB,
      static_cast<std::int32_t>(work.transpose_a ? CUBLAS_OP_T : CUBLAS_OP_N));
  plan->a = work.transpose_a ? make_layout(work.type, work.k, work.m, work.a_stride)
                             : make_layout(work.type, work.m, work.k, work.a_stride);
  plan->b = work.transpose_b ? make_layout(work.type, work.n, work.k, work.b_stride)
                             : make_layout(work.type, work.k, work.n, work.b_stride);
  plan->c = make_layout(work.c_type, work.m, work.n, work.c_stride);

  cublasLtMatmulPreference_t preference = nullptr;
  check(cublasLtMatmulPreferenceCreate(&preference), "cublasLtMatmulPreferenceCreate");
  const std::unique_ptr<cublasLtMatmulPreferenceOpaque_t, void (*)(cublasLtMatmulPreference_t)>
      owner(preference, [](cublasLtMatmulPreference_t it) { cublasLtMatmulPreferenceDestroy(it); });
  set(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
      static_cast<std::uint64_t>(stream.workspace_bytes()));
  set(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, static_cast<std::uint32_t>(align_b));
  set(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, static_cast<std::uint32_t>(align_a));
  set(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, static_cast<std::uint32_t>(align_c));
  set(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, static_cast<std::uint32_t>(align_c));
  cublasLtMatmulHeuristicResult_t found = {};
  int count = 0;
  check(cublasLtMatmulAlgoGetHeuristic(handle_, plan->description, plan->b, plan->a, plan->c,
                                       plan->c, preference, 1, &found, &count),
        describe(work));
  if (count == 0 || found.state != CUBLAS_STATUS_SUCCESS)
    throw DeviceError(describe(work) + ": cuBLASLt has no algorithm");
  plan->algorithm = found.algo;
  return plans_.emplace(key, std::move(plan)).first->second;
}

void GemmEngine::enqueue(CudaStream& stream, const Gemm& work) {
  if (work.m == 0 || work.n == 0) return;
  const cudaStream_t on = stream.begin();
  const Range range(stream);
  if (work.k == 0) {  // which cuBLASLt refuses
    const auto element = static_cast<std::size_t>(size_of(work.c_type));
    if (!work.accumulate)
      check(cudaMemset2DAsync(work.c, static_cast<std::size_t>(work.c_stride) * element, 0,
                              static_cast<std::size_t>(work.n) * element,
                              static_cast<std::size_t>(work.m), on),
            stream.label_text());
    return;
  }
  const std::shared_ptr<const Plan> plan = plan_of(stream, work);
  const float alpha = 1;
  const float beta = work.accumulate ? 1 : 0;
  const double wide_alpha = alpha;
  const double wide_beta = beta;
  const bool fp64 = work.type == DType::kF64;
  check(cublasLtMatmul(handle_, plan->description,
                       fp64 ? static_cast<const void*>(&wide_alpha) : &alpha, work.b, plan->b,
                       work.a, plan->a, fp64 ? static_cast<const void*>(&wide_beta) : &beta, work.c,
                       plan->c, work.c, plan->c, &plan->algorithm, stream.workspace(),
                       stream.workspace_bytes(), on),
        stream.label_text() + ": " + describe(work));
}

}  // namespace amsp::cuda
