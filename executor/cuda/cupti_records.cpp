#include "executor/cuda/cupti_records.h"

#include <cupti.h>
#include <fmt/core.h>

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <mutex>
#include <string>
#include <string_view>

#include "core/error.h"
#include "executor/cuda/clock.h"
#include "executor/cuda/kernel_ledger.h"

namespace amsp::cuda {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{2} << 20;
constexpr CUpti_ActivityKind kKinds[] = {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
                                         CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMSET};

// CUPTI versions its records, and the library writes the newest; versions grow at the end. So what
// is read here can be read through an old one, which headers of every CUDA since 9 have.
using KernelRecord = CUpti_ActivityKernel4;
using CopyRecord = CUpti_ActivityMemcpy;
using FillRecord = CUpti_ActivityMemset;
#if CUPTI_API_VERSION >= 130000
template <class Old, class New>
constexpr bool alike = offsetof(Old, start) == offsetof(New, start) &&
                       offsetof(Old, end) == offsetof(New, end) &&
                       offsetof(Old, correlationId) == offsetof(New, correlationId);
static_assert(alike<KernelRecord, CUpti_ActivityKernel10>);
static_assert(offsetof(KernelRecord, name) == offsetof(CUpti_ActivityKernel10, name));
static_assert(alike<CopyRecord, CUpti_ActivityMemcpy6>);
static_assert(offsetof(CopyRecord, copyKind) == offsetof(CUpti_ActivityMemcpy6, copyKind));
static_assert(alike<FillRecord, CUpti_ActivityMemset4>);
#endif

/// Of the threads that must not throw.
std::atomic<CUptiResult> failure_of_callbacks = CUPTI_SUCCESS;

const char* advice(CUptiResult status) {
  switch (status) {
    case CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED:
      return "; another profiler (Nsight, cuda-gdb, a tool of the framework) is attached";
    case CUPTI_ERROR_INSUFFICIENT_PRIVILEGES:
    case CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES:
      return "; the driver lets only administrators profile (NVreg_RestrictProfilingToAdminUsers)";
    default:
      return "";
  }
}

void check(CUptiResult status, const std::string& call) {
  if (status == CUPTI_SUCCESS) return;
  const char* name = nullptr;
  cuptiGetResultString(status, &name);
  throw DeviceError(fmt::format("kernels can't be recorded: CUPTI: {}: {}{}", call,
                                name == nullptr ? "unknown result" : name, advice(status)));
}

std::uint64_t CUPTIAPI timestamp() {
  return static_cast<std::uint64_t>(host_now_ns());
}

void CUPTIAPI on_launch(void*, CUpti_CallbackDomain, CUpti_CallbackId, const void* data) {
  const auto& call = *static_cast<const CUpti_CallbackData*>(data);
  if (call.callbackSite == CUPTI_API_ENTER) kernel_ledger().launched(call.correlationId);
}

void CUPTIAPI give_buffer(std::uint8_t** buffer, std::size_t* size, std::size_t* most_records) {
  // Null makes CUPTI drop records, and count them.
  *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(8, kBufferBytes));
  *size = *buffer == nullptr ? 0 : kBufferBytes;
  *most_records = 0;
}

void enter(const CUpti_Activity* record) {
  const auto add = [](const auto& run, const std::string& name) {
    kernel_ledger().ran(name, run.correlationId, static_cast<std::int64_t>(run.start),
                        static_cast<std::int64_t>(run.end));
  };
  switch (record->kind) {
    case CUPTI_ACTIVITY_KIND_KERNEL:
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: {
      const auto& kernel = *reinterpret_cast<const KernelRecord*>(record);
      return add(kernel, kernel.name == nullptr ? "kernel without a name" : kernel.name);
    }
    case CUPTI_ACTIVITY_KIND_MEMCPY: {
      const auto& copy = *reinterpret_cast<const CopyRecord*>(record);
      return add(copy, copy_name(copy.copyKind));
    }
    case CUPTI_ACTIVITY_KIND_MEMSET:
      return add(*reinterpret_cast<const FillRecord*>(record), "memset");
    default:
      return;
  }
}

void CUPTIAPI take_buffer(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t,
                          std::size_t valid_bytes) {
  CUpti_Activity* record = nullptr;
  CUptiResult status = CUPTI_SUCCESS;
  while (valid_bytes > 0 &&
         (status = cuptiActivityGetNextRecord(buffer, valid_bytes, &record)) == CUPTI_SUCCESS)
    enter(record);
  std::free(buffer);
  // An invalid kind is a record that isn't complete: nothing comes after it.
  if (status == CUPTI_ERROR_INVALID_KIND)
    kernel_ledger().lost(1);
  else if (status != CUPTI_SUCCESS && status != CUPTI_ERROR_MAX_LIMIT_REACHED)
    failure_of_callbacks = status;
  std::size_t dropped = 0;
  if (cuptiActivityGetNumDroppedRecords(nullptr, 0, &dropped) == CUPTI_SUCCESS)
    kernel_ledger().lost(static_cast<std::int64_t>(dropped));
}

/// Whatever the version of CUDA: by name. Host functions are no work of the device.
bool makes_device_work(std::string_view function) {
  if (function.find("HostFunc") != std::string_view::npos) return false;
  for (const char* word : {"Launch", "Memcpy", "Memset"})
    if (function.find(word) != std::string_view::npos) return true;
  return false;
}

void enable_callbacks(CUpti_SubscriberHandle subscriber, CUpti_CallbackDomain domain, int count) {
  int enabled = 0;
  for (CUpti_CallbackId id = 1; id < static_cast<CUpti_CallbackId>(count); ++id) {
    const char* name = nullptr;
    if (cuptiGetCallbackName(domain, id, &name) != CUPTI_SUCCESS || name == nullptr ||
        !makes_device_work(name))
      continue;
    check(cuptiEnableCallback(1, subscriber, domain, id),
          fmt::format("cuptiEnableCallback of {}", name));
    ++enabled;
  }
  if (enabled == 0)
    throw DeviceError("kernels can't be recorded: CUPTI names no function that launches");
}

void enable() {
  check(cuptiActivityRegisterTimestampCallback(timestamp),
        "cuptiActivityRegisterTimestampCallback");
  check(cuptiActivityRegisterCallbacks(give_buffer, take_buffer), "cuptiActivityRegisterCallbacks");
  CUpti_SubscriberHandle subscriber = nullptr;
  check(cuptiSubscribe(&subscriber, on_launch, nullptr), "cuptiSubscribe");
  try {
    enable_callbacks(subscriber, CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_SIZE);
    enable_callbacks(subscriber, CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_SIZE);
    for (const CUpti_ActivityKind kind : kKinds)
      check(cuptiActivityEnable(kind), "cuptiActivityEnable");
  } catch (...) {
    for (const CUpti_ActivityKind kind : kKinds) cuptiActivityDisable(kind);
    cuptiUnsubscribe(subscriber);
    throw;
  }
}

}  // namespace

void start_kernel_records() {
  static std::mutex mutex;
  static bool started = false;
  const std::lock_guard lock(mutex);
  if (started) return;
  enable();
  started = true;
}

void flush_kernel_records() {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  check(cuptiActivityFlushAll(0), "cuptiActivityFlushAll");
  check(failure_of_callbacks.exchange(CUPTI_SUCCESS), "cuptiActivityGetNextRecord");
}

}  // namespace amsp::cuda
