#include "executor/cuda/watch.h"

#include <fmt/core.h>

#include <thread>

#include "core/error.h"
#include "executor/cuda/check.h"

namespace amsp::cuda {

int Watch::add(Guard guard) {
  const std::lock_guard lock(mutex_);
  guards_.emplace(next_id_, std::move(guard));
  return next_id_++;
}

void Watch::remove(int id) {
  const std::lock_guard lock(mutex_);
  guards_.erase(id);
}

void Watch::check() const {
  if (!failed_) return;
  const std::lock_guard lock(mutex_);
  throw DeviceError(failure_);
}

void Watch::fail(const std::string& text) {
  const std::lock_guard lock(mutex_);
  if (!failed_) {
    failure_ = text;
    failed_ = true;
    for (const auto& [id, guard] : guards_) guard.abort();
  }
  throw DeviceError(failure_);
}

std::string Watch::failure_of_guards() {
  const std::lock_guard lock(mutex_);
  for (const auto& [id, guard] : guards_)
    if (const std::string text = guard.failure(); !text.empty()) return text;
  return "";
}

void Watch::wait(const std::function<cudaError_t()>& query, const std::string& what) {
  using Clock = std::chrono::steady_clock;
  constexpr auto kSpin = std::chrono::microseconds(50);
  constexpr auto kNap = std::chrono::microseconds(20);
  constexpr auto kBetweenGuards = std::chrono::milliseconds(2);
  const Clock::time_point start = Clock::now();
  Clock::time_point guards_at = start + kBetweenGuards;
  while (true) {
    check();
    const cudaError_t status = query();
    if (status == cudaSuccess) return;
    if (status != cudaErrorNotReady) fail(message_of(status, what));
    const Clock::time_point now = Clock::now();
    if (now >= guards_at) {
      if (const std::string text = failure_of_guards(); !text.empty()) fail(text);
      guards_at = now + kBetweenGuards;
    }
    if (now - start > stall_timeout_) {
      std::string unfinished;
      {
        const std::lock_guard lock(mutex_);
        for (const auto& [id, guard] : guards_)
          if (const std::string text = guard.unfinished(); !text.empty())
            unfinished += fmt::format("{}{}", unfinished.empty() ? "; unfinished: " : ", ", text);
      }
      fail(fmt::format("{}: not finished after {} s{}", what,
                       std::chrono::duration<double>(stall_timeout_).count(), unfinished));
    }
    if (now - start > kSpin) std::this_thread::sleep_for(kNap);
  }
}

}  // namespace amsp::cuda
