#include "executor/cuda/fabric/nccl_link.h"

#include <fmt/core.h>

#include <thread>

#include "core/error.h"
#include "executor/cuda/check.h"

namespace amsp::cuda {
namespace {

constexpr auto kSpin = std::chrono::microseconds(200);
constexpr auto kNap = std::chrono::microseconds(20);

bool is_error(ncclResult_t result) {
  return result != ncclSuccess && result != ncclInProgress;
}

}  // namespace

NcclLink::NcclLink(std::shared_ptr<Context> context, std::string name,
                   std::chrono::milliseconds timeout,
                   const std::function<ncclResult_t(ncclComm_t*, ncclConfig_t*)>& start,
                   NcclLink* parent)
    : context_(std::move(context)), name_(std::move(name)), timeout_(timeout) {
  context_->bind();
  context_->watch.check();
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  // A split writes the handle from a thread of NCCL's, once the parent is ready.
  auto handle = std::make_unique<ncclComm_t>(nullptr);
  const ncclResult_t result = start(handle.get(), &config);
  std::string problem;
  if (is_error(result)) problem = describe(result, "setting up");
  if (problem.empty() && parent != nullptr) problem = parent->wait_until_ready("splitting");
  if (problem.empty()) {
    comm_ = *handle;
    if (comm_ == nullptr)
      problem = name_ + ": NCCL gave no communicator";
    else
      problem = wait_until_ready("setting up");
  }
  if (!problem.empty()) {
    if (parent != nullptr) static_cast<void>(handle.release());  // may still be written to
    abort();
    context_->watch.fail(problem);
  }
  guard_ = context_->watch.add(
      {[this] { return failure(); }, [this] { return unfinished(); }, [this] { abort(); }});
}

NcclLink::~NcclLink() {
  if (guard_ >= 0) context_->watch.remove(guard_);
  cudaSetDevice(context_->ordinal);
  for (const Pending& pending : pending_) cudaEventDestroy(pending.done);
  for (cudaEvent_t event : unused_) cudaEventDestroy(event);
  if (comm_ == nullptr || aborted_) return;
  // An orderly end needs all members; one that doesn't come must not hold this rank up for ever.
  if (!is_error(ncclCommFinalize(comm_)) && wait_until_ready("closing").empty())
    ncclCommDestroy(comm_);
  else
    ncclCommAbort(comm_);
}

std::string NcclLink::describe(ncclResult_t result, const std::string& what) {
  const char* detail = ncclGetLastError(comm_);
  return fmt::format("{}: {}: NCCL: {}{}{}", name_, what, ncclGetErrorString(result),
                     detail == nullptr || *detail == '\0' ? "" : ": ",
                     detail == nullptr ? "" : detail);
}

std::string NcclLink::wait_until_ready(const std::string& what) {
  const auto start = std::chrono::steady_clock::now();
  while (true) {
    {
      const std::lock_guard lock(mutex_);
      if (aborted_) return fmt::format("{}: {}: aborted", name_, what);
      ncclResult_t state = ncclSuccess;
      if (const ncclResult_t result = ncclCommGetAsyncError(comm_, &state); is_error(result))
        return describe(result, what);
      if (is_error(state)) return describe(state, what);
      if (state == ncclSuccess) return "";
    }
    const auto waited = std::chrono::steady_clock::now() - start;
    if (waited > timeout_)
      return fmt::format("{}: {}: NCCL was not ready after {} s", name_, what,
                         std::chrono::duration<double>(timeout_).count());
    if (waited > kSpin)
      std::this_thread::sleep_for(kNap);
    else
      std::this_thread::yield();
  }
}

void NcclLink::group(CudaStream& stream, const std::function<ncclResult_t()>& calls) {
  const cudaStream_t on = stream.begin();
  const Range range(stream);
  const std::string& label = stream.label_text();
  std::string problem;
  ncclResult_t result = ncclSuccess;
  {
    const std::lock_guard lock(mutex_);
    result = aborted_ ? ncclInvalidUsage : ncclGroupStart();
    if (!is_error(result)) {
      const ncclResult_t inside = calls();
      const ncclResult_t ended = ncclGroupEnd();
      result = is_error(inside) ? inside : ended;
    }
    if (is_error(result)) problem = describe(result, label);
  }
  // Until NCCL has launched, an event would be recorded before the kernels.
  if (problem.empty()) problem = wait_until_ready(label);
  if (!problem.empty()) context_->watch.fail(problem);

  const std::lock_guard lock(mutex_);
  forget_done();
  cudaEvent_t event = nullptr;
  if (unused_.empty()) {
    check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), label);
  } else {
    event = unused_.back();
    unused_.pop_back();
  }
  pending_.push_back({event, label});
  check(cudaEventRecord(event, on), label);
}

void NcclLink::forget_done() {
  while (!pending_.empty() && cudaEventQuery(pending_.front().done) == cudaSuccess) {
    unused_.push_back(pending_.front().done);
    pending_.pop_front();
  }
}

std::string NcclLink::first_pending() {
  forget_done();
  return pending_.empty() ? std::string() : pending_.front().label;
}

std::string NcclLink::failure() {
  const std::lock_guard lock(mutex_);
  if (aborted_) return "";
  ncclResult_t state = ncclSuccess;
  const ncclResult_t result = ncclCommGetAsyncError(comm_, &state);
  if (!is_error(result) && !is_error(state)) return "";
  const std::string label = first_pending();
  return describe(is_error(result) ? result : state, label.empty() ? "idle" : label);
}

std::string NcclLink::unfinished() {
  const std::lock_guard lock(mutex_);
  const std::string label = aborted_ ? std::string() : first_pending();
  return label.empty() ? label : fmt::format("{}: {}", name_, label);
}

void NcclLink::abort() {
  const std::lock_guard lock(mutex_);
  if (aborted_ || comm_ == nullptr) return;
  aborted_ = true;
  ncclCommAbort(comm_);
}

}  // namespace amsp::cuda
