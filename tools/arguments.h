#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "core/error.h"

namespace amsp {

/// Refuses "".
inline CLI::Validator not_empty() {
  return CLI::Validator(
      [](const std::string& text) { return text.empty() ? "must not be empty" : ""; }, "");
}

/// Throws ConfigError if what `option` is to write is one of the inputs, or a file of a folder
/// among them. Empty paths stand for nothing.
void refuse_inputs(const std::string& option, const std::string& path,
                   const std::vector<std::string>& inputs);

/// Parses the arguments and runs `body`; prints help, version or what is wrong with the arguments
/// instead. Returns the exit code.
template <class Body>
int run_parsed(CLI::App& app, int argc, char** argv, Body body) {
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kExitOk : kExitConfig;
  }
  return body();
}

}  // namespace amsp
