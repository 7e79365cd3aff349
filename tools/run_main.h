#pragma once

#include <fmt/core.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>
#include <string>

#include "core/error.h"

namespace amsp {

/// Writes to standard output and makes sure that it arrived. Throws ConfigError otherwise.
inline void print_output(const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0)
    throw ConfigError(fmt::format("standard output: can't be written: {}", std::strerror(errno)));
}

/// Runs a program's body; every failure becomes one message on standard error and an exit code.
template <class Body>
int run_main(const char* name, Body body) {
  try {
    return body();
  } catch (const ConfigError& error) {
    fmt::print(stderr, "{}: {}\n", name, error.what());
    return kExitConfig;
  } catch (const InfeasibleError& error) {
    fmt::print(stderr, "{}: {}\n", name, error.what());
    return kExitInfeasible;
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "{}: out of memory; take fewer nodes, layers or micro-batches\n", name);
    return kExitInternal;
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}: internal error: {}\n", name, error.what());
    return kExitInternal;
  }
}

}  // namespace amsp
