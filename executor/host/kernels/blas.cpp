// OpenBLAS picks its kernels and its number of threads while it is loaded, and Debian's 0.3.21
// picks those of a processor of 2004 where it doesn't know the model (measured on an Emerald
// Rapids: 20-30 GFLOP/s in fp32 against 105-115). So it is loaded here, by hand, with the choice
// made.
#include "executor/host/kernels/blas.h"

#include <cblas.h>
#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <sstream>

#include "core/error.h"

namespace amsp::host {
namespace {

constexpr const char* kLibrary = "libopenblas.so.0";

/// Sets a variable of the environment until the end of the scope, unless it is set.
class Default {
 public:
  Default(const char* name, const char* value) : name_(name), set_(value && !std::getenv(name)) {
    if (set_) ::setenv(name, value, 0);
  }
  Default(const Default&) = delete;
  Default& operator=(const Default&) = delete;
  ~Default() {
    if (set_) ::unsetenv(name_);
  }

 private:
  const char* name_;
  bool set_;
};

/// Null: as OpenBLAS likes.
const char* core_type() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
    return "SkylakeX";
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    return __builtin_cpu_is("amd") ? "Zen" : "Haswell";
#endif
  return nullptr;
}

struct OpenBlas {
  OpenBlas() {
    const Default core("OPENBLAS_CORETYPE", core_type());
    const Default threads("OPENBLAS_NUM_THREADS", "1");
    library = ::dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
    if (!library) throw DeviceError(fmt::format("can't load OpenBLAS: {}", ::dlerror()));
    find(sgemm, "cblas_sgemm");
    find(dgemm, "cblas_dgemm");
    find(config, "openblas_get_config");
    find(core_name, "openblas_get_corename");
    decltype(&openblas_set_num_threads) set_num_threads;
    find(set_num_threads, "openblas_set_num_threads");
    set_num_threads(1);
  }

  template <typename Function>
  void find(Function& function, const char* name) {
    function = reinterpret_cast<Function>(::dlsym(library, name));
    if (!function) throw DeviceError(fmt::format("{} has no {}", kLibrary, name));
  }

  void* library;  // for good: OpenBLAS has no way to stop
  decltype(&cblas_sgemm) sgemm;
  decltype(&cblas_dgemm) dgemm;
  decltype(&openblas_get_config) config;
  decltype(&openblas_get_corename) core_name;
};

const OpenBlas& blas() {
  static const OpenBlas loaded;
  return loaded;
}

blasint to_blas(std::int64_t size) {
  AMSP_CHECK(size >= 0 && size <= std::numeric_limits<blasint>::max(),
             "a matrix product with a size or stride of {}", size);
  return static_cast<blasint>(size);
}

template <typename T, typename Function>
void call(Function function, bool transpose_a, bool transpose_b, std::int64_t m, std::int64_t n,
          std::int64_t k, const T* a, std::int64_t a_stride, const T* b, std::int64_t b_stride,
          T beta, T* c, std::int64_t c_stride) {
  function(CblasRowMajor, transpose_a ? CblasTrans : CblasNoTrans,
           transpose_b ? CblasTrans : CblasNoTrans, to_blas(m), to_blas(n), to_blas(k), T(1), a,
           to_blas(std::max<std::int64_t>(a_stride, 1)), b,
           to_blas(std::max<std::int64_t>(b_stride, 1)), beta, c, to_blas(c_stride));
}

}  // namespace

void gemm(bool transpose_a, bool transpose_b, std::int64_t m, std::int64_t n, std::int64_t k,
          const float* a, std::int64_t a_stride, const float* b, std::int64_t b_stride, float beta,
          float* c, std::int64_t c_stride) {
  call(blas().sgemm, transpose_a, transpose_b, m, n, k, a, a_stride, b, b_stride, beta, c,
       c_stride);
}

void gemm(bool transpose_a, bool transpose_b, std::int64_t m, std::int64_t n, std::int64_t k,
          const double* a, std::int64_t a_stride, const double* b, std::int64_t b_stride,
          double beta, double* c, std::int64_t c_stride) {
  call(blas().dgemm, transpose_a, transpose_b, m, n, k, a, a_stride, b, b_stride, beta, c,
       c_stride);
}

void load_blas() {
  blas();
}

std::string describe_blas() {
  std::istringstream config(blas().config());
  std::string library, version;
  config >> library >> version;
  return fmt::format("{} {} ({})", library, version, blas().core_name());
}

}  // namespace amsp::host
