#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "executor/host/kernel_recorder.h"
#include "executor/interface/stream.h"

namespace amsp {

class HostPoint;

class HostEvent : public Event {
 public:
  /// Both: InternalError if nothing was recorded (or, time_ns(), if it isn't reached).
  void synchronize() override;
  std::int64_t time_ns() override;

 private:
  friend class HostStream;
  std::shared_ptr<HostPoint> last_point();
  void set_last_point(std::shared_ptr<HostPoint> point);

  std::mutex mutex_;
  std::shared_ptr<HostPoint> point_;
};

/// A thread that runs closures in order. Failures become DeviceErrors: "label: cause", with the
/// label of the work that failed first, or the stream's name where none was set; streams that wait
/// for it fail with the same text. A stream that has failed stays so.
class HostStream : public Stream {
 public:
  /// `recorder`, if there is one, gets what has a kernel's name.
  explicit HostStream(const std::string& name,
                      std::shared_ptr<HostKernelRecorder> recorder = nullptr);
  HostStream(const HostStream&) = delete;
  HostStream& operator=(const HostStream&) = delete;
  /// Waits until all that was enqueued is done.
  ~HostStream() override;

  void label(const std::string& text) override;
  /// `event` is a HostEvent, in which something was recorded (else InternalError).
  void wait(Event& event) override;
  void record(Event& event) override;
  void synchronize() override;

  /// Runs `work` on the stream's thread, after all that was enqueued before. It may block; what it
  /// throws is the stream's failure. It must not enqueue on or synchronize this stream. `kernel`
  /// must live for ever; null is for work that is none.
  void enqueue(std::function<void()> work, const char* kernel = nullptr);

 private:
  struct Item {
    std::function<void()> work;
    const std::string* label;
    const char* kernel;
    bool always;  // runs on a failed stream as well
  };

  void push(std::function<void()> work, const char* kernel, bool always);
  void run_items();
  void run(const Item& item);

  const std::string name_;
  const std::shared_ptr<HostKernelRecorder> recorder_;
  const std::string* label_ = &name_;
  std::shared_ptr<const std::string> failure_;  // of the stream's thread

  std::mutex mutex_;
  std::condition_variable work_to_do_;
  std::condition_variable all_done_;
  std::vector<Item> items_;
  std::int64_t enqueued_ = 0;
  std::int64_t done_ = 0;
  std::shared_ptr<const std::string> failure_of_done_;
  bool closing_ = false;
  bool idle_ = false;
  std::thread thread_;  // last: uses all the others
};

}  // namespace amsp
