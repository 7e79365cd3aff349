#pragma once

#include <functional>
#include <vector>

namespace amsp {

/// Runs `work` in a child process and returns what it returned. SimGrid knows one simulation
/// per process, with a clock that never goes back and resources that stay; in a process of its own
/// every simulation starts from nothing and leaves nothing behind.
/// An exception in `work` arrives here as InternalError with its message; so does the end of the
/// child by a signal.
std::vector<double> run_isolated(const std::function<std::vector<double>()>& work);

}  // namespace amsp
