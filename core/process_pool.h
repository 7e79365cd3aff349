#pragma once

#include <sys/types.h>

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace amsp {

using Job = std::function<std::vector<double>(std::size_t)>;

/// What a job returned, or the message of the error that it threw.
struct JobOutcome {
  enum class Kind { kValues, kConfigError, kInfeasible, kInternal };
  Kind kind = Kind::kInternal;
  std::vector<double> values;
  std::string message;
};

/// A child process and the job that it is at. It shares nothing with this process but what that had
/// built before, ignores interrupts from the terminal, and ends with this process.
class Worker {
 public:
  /// Throws InternalError if no child can be started.
  explicit Worker(const Job& job);
  Worker(Worker&& other) noexcept;
  Worker& operator=(Worker&& other) noexcept;
  ~Worker();

  int socket() const { return socket_; }  // readable once the job has ended
  std::size_t job() const { return *at_; }
  bool busy() const { return at_.has_value(); }
  /// A child that has died meanwhile is noticed when its answer is read.
  void give(std::size_t job);
  /// Waits for the job to end; empty if the child died over it.
  std::optional<JobOutcome> take();
  /// Ends the child, if it hasn't ended by itself, and says how it did: "ended with code 1".
  std::string end();

 private:
  pid_t child_ = -1;
  int socket_ = -1;
  std::optional<std::size_t> at_;
};

/// Runs jobs 0 .. count-1, each once, in up to `workers` child processes that take the next job
/// whenever they are free. Children share nothing with this process but what it had built before.
///
/// `done` is called here, in the order of the jobs whatever the order in which they end, so that
/// nothing depends on the number of workers. A child that dies (out of memory, a signal) costs
/// its job, which becomes kInternal; another child takes its place.
///
/// `proceed` is called several times a second with the number of jobs that have ended; once it
/// returns false the children are ended, and `done` gets what is complete, still in order.
/// Interrupts from the terminal reach this process only.
///
/// Returns the number of jobs that ended. Throws InternalError if no child can be started.
std::size_t run_jobs(std::size_t count, int workers, const Job& job,
                     const std::function<void(std::size_t, const JobOutcome&)>& done,
                     const std::function<bool(std::size_t)>& proceed);

}  // namespace amsp
