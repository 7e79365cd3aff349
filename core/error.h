#pragma once

#include <fmt/core.h>

#include <stdexcept>
#include <string>

namespace amsp {

/// A mistake in the user's input, theirs to fix. The message names file and place.
/// Programs end with exit code 2.
class ConfigError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A well-formed request that cannot be honoured: the message names the rule.
/// Programs end with exit code 3.
class InfeasibleError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A broken invariant or a stuck simulation: a bug of ours, or of a library.
/// Programs end with exit code 4.
class InternalError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// What a machine failed at while it ran: a lost rank, memory, a library's error. The message names
/// rank, task and cause. Programs end with exit code 4.
class DeviceError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// kExitFailed: all went well, and what was checked didn't hold.
enum ExitCode : int {
  kExitOk = 0,
  kExitFailed = 1,
  kExitConfig = 2,
  kExitInfeasible = 3,
  kExitInternal = 4
};

}  // namespace amsp

/// Checks an invariant, in release builds too; the rest of the arguments is a fmt message.
#define AMSP_CHECK(condition, ...)                                                              \
  do {                                                                                          \
    if (!(condition)) [[unlikely]]                                                              \
      throw ::amsp::InternalError(fmt::format("{}:{}: invariant '{}' is broken: {}", __FILE__,  \
                                              __LINE__, #condition, fmt::format(__VA_ARGS__))); \
  } while (false)
