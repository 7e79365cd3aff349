#include <algorithm>

#include "executor/host/kernels/kernels.h"
#include "executor/host/kernels/number.h"
#include "executor/host/kernels/vector_code.h"

namespace amsp::host {
namespace {

template <typename T>
AMSP_VECTOR_CLONES void add(std::int64_t n, const T* a, const T* b, T* y) {
  AMSP_INDEPENDENT
  for (std::int64_t i = 0; i < n; ++i) y[i] = round_to<T>(widen(a[i]) + widen(b[i]));
}

template <typename From, typename To>
AMSP_VECTOR_CLONES void convert(std::int64_t n, const From* from, To* to) {
  for (std::int64_t i = 0; i < n; ++i) to[i] = round_to<To>(widen(from[i]));
}

template <typename From, typename To>
AMSP_VECTOR_CLONES void accumulate(std::int64_t n, const From* from, To* to) {
  for (std::int64_t i = 0; i < n; ++i) to[i] = round_to<To>(widen(to[i]) + widen(from[i]));
}

}  // namespace

void run(const Add& work) {
  with_type(work.type, [&](auto type) {
    using T = decltype(type);
    add(work.n, static_cast<const T*>(work.a), static_cast<const T*>(work.b),
        static_cast<T*>(work.y));
  });
}

void run(const Convert& work) {
  if (work.from_type == DType::kI32 && work.to_type == DType::kI32) {
    AMSP_CHECK(!work.accumulate, "tokens are copied, not added");
    std::copy_n(static_cast<const std::int32_t*>(work.from), work.n,
                static_cast<std::int32_t*>(work.to));
    return;
  }
  with_type(work.from_type, [&](auto from_type) {
    with_type(work.to_type, [&](auto to_type) {
      const auto* const from = static_cast<const decltype(from_type)*>(work.from);
      auto* const to = static_cast<decltype(to_type)*>(work.to);
      if (work.accumulate)
        accumulate(work.n, from, to);
      else
        convert(work.n, from, to);
    });
  });
}

}  // namespace amsp::host
