#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

#include "core/error.h"

namespace amsp {

/// A file to write, by which option; an empty path stands for nothing.
struct Output {
  const char* option;
  std::string path;
};

/// To call before the work. Throws ConfigError if an output is an input or in a folder that is one
/// (and exists), is the file of another output, or can't be written. Empty paths among the inputs
/// stand for nothing.
void check_outputs(const std::vector<Output>& outputs, const std::vector<std::string>& inputs);

/// What all our programs have in common: help that fits kTextColumns, and no value that is "".
void set_up(CLI::App& app);

/// Parses the arguments and runs `body`; prints help, version or what is wrong with the arguments
/// instead. Returns the exit code.
template <class Body>
int run_parsed(CLI::App& app, int argc, char** argv, Body body) {
  set_up(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kExitOk : kExitConfig;
  }
  return body();
}

/// A command of a program, such as `amsp-trace diff`. `run` does the work once the arguments are
/// parsed and returns the exit code.
struct Command {
  CLI::App* app;
  std::function<int()> run;
};
/// run_parsed() with the one command that the arguments name, as run_main() of the app's name.
int run_commands(CLI::App& app, int argc, char** argv, const std::vector<Command>& commands);

}  // namespace amsp
