#include "executor/host/host_stream.h"

#include <pthread.h>

#include <chrono>
#include <exception>
#include <utility>

#include "core/error.h"
#include "executor/host/time_slice.h"

namespace amsp {
namespace {

std::int64_t monotonic_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace

/// What one record() made: reached once, by the thread of the stream.
class HostPoint {
 public:
  using Failure = std::shared_ptr<const std::string>;

  void reach(Failure failure) {
    {
      const std::lock_guard lock(mutex_);
      time_ns_ = monotonic_ns();
      failure_ = std::move(failure);
      reached_ = true;
    }
    changed_.notify_all();
  }
  /// Blocks until it is reached; null if the work before it went well.
  Failure wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return reached_; });
    return failure_;
  }
  std::int64_t time_ns() {
    const std::lock_guard lock(mutex_);
    AMSP_CHECK(reached_, "the time of an event that isn't reached");
    return time_ns_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool reached_ = false;
  std::int64_t time_ns_ = 0;
  Failure failure_;
};

std::shared_ptr<HostPoint> HostEvent::last_point() {
  const std::lock_guard lock(mutex_);
  AMSP_CHECK(point_ != nullptr, "use of an event that was never recorded");
  return point_;
}

void HostEvent::set_last_point(std::shared_ptr<HostPoint> point) {
  const std::lock_guard lock(mutex_);
  point_ = std::move(point);
}

void HostEvent::synchronize() {
  if (const auto failure = last_point()->wait()) throw DeviceError(*failure);
}

std::int64_t HostEvent::time_ns() {
  return last_point()->time_ns();
}

HostStream::HostStream(const std::string& name, std::shared_ptr<HostKernelRecorder> recorder)
    : name_(name), recorder_(std::move(recorder)), thread_([this] { run_items(); }) {
  // For debuggers and `top`; the kernel keeps 15 characters.
  pthread_setname_np(thread_.native_handle(), name.substr(0, 15).c_str());
}

HostStream::~HostStream() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  work_to_do_.notify_one();
  thread_.join();
}

void HostStream::label(const std::string& text) {
  label_ = &text;
}

void HostStream::enqueue(std::function<void()> work, const char* kernel) {
  push(std::move(work), kernel, false);
}

void HostStream::wait(Event& event) {
  push(
      [this, point = dynamic_cast<HostEvent&>(event).last_point()] {
        if (auto failure = point->wait()) failure_ = std::move(failure);
      },
      nullptr, false);
}

void HostStream::record(Event& event) {
  auto point = std::make_shared<HostPoint>();
  dynamic_cast<HostEvent&>(event).set_last_point(point);
  push([this, point = std::move(point)] { point->reach(failure_); }, nullptr, true);
}

void HostStream::synchronize() {
  std::unique_lock lock(mutex_);
  all_done_.wait(lock, [this, last = enqueued_] { return done_ >= last; });
  if (failure_of_done_) throw DeviceError(*failure_of_done_);
}

void HostStream::push(std::function<void()> work, const char* kernel, bool always) {
  bool idle;
  {
    const std::lock_guard lock(mutex_);
    items_.push_back({std::move(work), label_, kernel, always});
    ++enqueued_;
    idle = std::exchange(idle_, false);
  }
  if (idle) work_to_do_.notify_one();
}

void HostStream::run_items() {
  if (name_ == "compute")
    take_usual_time_slices();
  else
    take_short_time_slices();
  std::vector<Item> taken;
  std::unique_lock lock(mutex_);
  for (;;) {
    if (items_.empty()) {
      all_done_.notify_all();
      if (closing_) return;
      idle_ = true;
      work_to_do_.wait(lock, [this] { return !items_.empty() || closing_; });
      idle_ = false;
    }
    taken.swap(items_);
    lock.unlock();
    for (Item& item : taken) {
      run(item);
      item.work = nullptr;  // what it holds isn't needed beyond its run
    }
    lock.lock();
    done_ += static_cast<std::int64_t>(taken.size());
    failure_of_done_ = failure_;
    taken.clear();
  }
}

void HostStream::run(const Item& item) {
  if (failure_ && !item.always) return;
  std::string cause;
  try {
    if (item.kernel == nullptr || recorder_ == nullptr || !recorder_->on()) {
      item.work();
      return;
    }
    const std::int64_t start_ns = monotonic_ns();
    item.work();
    recorder_->add({*item.label, item.kernel, start_ns, monotonic_ns()});
    return;
  } catch (const std::exception& error) {
    cause = error.what();
  } catch (...) {
    cause = "an exception of unknown type";
  }
  failure_ = std::make_shared<const std::string>(*item.label + ": " + cause);
}

}  // namespace amsp
