#include "executor/cuda/check.h"

#include <fmt/core.h>

#include "core/error.h"

namespace amsp::cuda {
namespace {

/// The part of a source's path that a reader needs.
std::string_view short_name(std::string_view path) {
  const std::size_t start = path.rfind("executor/");
  return start == std::string_view::npos ? path : path.substr(start);
}

std::string with_place(std::string_view what, std::string_view cause, std::string_view name,
                       const std::source_location& where) {
  return fmt::format("{}: {} ({}), at {}:{}", what, cause, name, short_name(where.file_name()),
                     where.line());
}

}  // namespace

std::string message_of(cudaError_t status, std::string_view what,
                       const std::source_location& where) {
  return with_place(what, cudaGetErrorString(status), cudaGetErrorName(status), where);
}

void check(cudaError_t status, std::string_view what, const std::source_location& where) {
  if (status != cudaSuccess) throw DeviceError(message_of(status, what, where));
}

void check(cublasStatus_t status, std::string_view what, const std::source_location& where) {
  if (status != CUBLAS_STATUS_SUCCESS)
    throw DeviceError(
        with_place(what, cublasLtGetStatusString(status), cublasLtGetStatusName(status), where));
}

}  // namespace amsp::cuda
