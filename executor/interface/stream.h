#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace amsp {

/// A point in the work of a stream. Not reached before it is recorded.
class Event {
 public:
  virtual ~Event() = default;
  /// Blocks the calling thread until the point of the last record() is reached. Throws what the
  /// work before it failed with.
  virtual void synchronize() = 0;
  /// When the point was reached, in nanoseconds of the rank's monotonic clock. Requires
  /// synchronize() to have returned.
  virtual std::int64_t time_ns() = 0;
};

/// Work that runs in the order in which it was enqueued, beside the caller and other streams.
/// Enqueuing returns at once. Work that fails keeps all later work of the stream, and of streams
/// that wait for it, from running; the failure surfaces in synchronize(). One thread enqueues.
class Stream {
 public:
  virtual ~Stream() = default;
  /// What is enqueued from now on is called this, in messages and profilers: a task key. The text
  /// must outlive the work.
  virtual void label(const std::string& text) = 0;
  /// What is enqueued later starts after the point that was last recorded in `event`.
  virtual void wait(Event& event) = 0;
  virtual void record(Event& event) = 0;
  /// Blocks until all that was enqueued is done; throws what it failed with.
  virtual void synchronize() = 0;
};

}  // namespace amsp
