#pragma once

#include <fmt/core.h>

#include <cstdio>
#include <exception>

#include "core/error.h"

namespace amsp {

/// Runs a program's body; every failure becomes one message on standard error and an exit code.
template <class Body>
int run_program(const char* name, Body body) {
  try {
    return body();
  } catch (const ConfigError& error) {
    fmt::print(stderr, "{}: {}\n", name, error.what());
    return kExitConfig;
  } catch (const InfeasibleError& error) {
    fmt::print(stderr, "{}: {}\n", name, error.what());
    return kExitInfeasible;
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}: internal error: {}\n", name, error.what());
    return kExitInternal;
  }
}

}  // namespace amsp
