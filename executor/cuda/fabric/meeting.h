#pragma once

#include <fmt/core.h>

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/error.h"

namespace amsp::cuda {

/// Where the threads of a group meet, again and again: each brings an item, and leaves with all
/// items once all have come. Thread-safe.
template <class Item>
class Meeting {
 public:
  /// `name` is for messages: "group 0 of 4x1".
  Meeting(int size, std::string name, std::chrono::milliseconds timeout)
      : name_(std::move(name)), timeout_(timeout), items_(static_cast<std::size_t>(size)) {}

  /// All items, by position. Throws DeviceError, on every member now and later, if somebody doesn't
  /// come in time; `what` is what the caller comes for.
  std::shared_ptr<const std::vector<Item>> meet(int position, Item item, const std::string& what) {
    std::unique_lock lock(mutex_);
    if (!failure_.empty()) throw DeviceError(failure_);
    std::optional<Item>& mine = items_[static_cast<std::size_t>(position)];
    AMSP_CHECK(!mine, "{}: member {} came twice", name_, position);
    mine = std::move(item);
    if (++arrived_ == items_.size()) {
      auto all = std::make_shared<std::vector<Item>>();
      for (std::optional<Item>& one : items_) {
        all->push_back(std::move(*one));
        one.reset();
      }
      arrived_ = 0;
      ++count_;
      all_ = std::move(all);
      changed_.notify_all();
      return all_;
    }
    const std::size_t before = count_;
    // No next meeting can end before this thread has left this one: all_ is that of this meeting.
    if (!changed_.wait_for(lock, timeout_, [&] { return count_ != before || !failure_.empty(); })) {
      std::string missing;
      for (std::size_t i = 0; i < items_.size(); ++i)
        if (!items_[i]) missing += fmt::format("{}{}", missing.empty() ? "" : ", ", i);
      failure_ = fmt::format("{}: {}: after {} s these members have not come: {}", name_, what,
                             std::chrono::duration<double>(timeout_).count(), missing);
      changed_.notify_all();
    }
    if (count_ == before) throw DeviceError(failure_);
    return all_;
  }

 private:
  const std::string name_;
  const std::chrono::milliseconds timeout_;
  std::mutex mutex_;  // of all below
  std::condition_variable changed_;
  std::vector<std::optional<Item>> items_;  // of those who have come to this meeting
  std::size_t arrived_ = 0;
  std::size_t count_ = 0;  // meetings held
  std::shared_ptr<const std::vector<Item>> all_;
  std::string failure_;
};

}  // namespace amsp::cuda
