#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace amsp {

/// What a job returned, or the message of the error that it threw.
struct JobOutcome {
  enum class Kind { kValues, kConfigError, kInfeasible, kInternal };
  Kind kind = Kind::kInternal;
  std::vector<double> values;
  std::string message;
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
std::size_t run_jobs(std::size_t count, int workers,
                     const std::function<std::vector<double>(std::size_t)>& job,
                     const std::function<void(std::size_t, const JobOutcome&)>& done,
                     const std::function<bool(std::size_t)>& proceed);

}  // namespace amsp
