#pragma once

#include <CLI/CLI.hpp>
#include <functional>

namespace amsp {

// The commands of amsp-profile, one file each. Each adds itself to the program; what it returns
// keeps its options and must outlive the parsing. Called after it, `run` does the work and returns
// the exit code.
struct ProfileCommand {
  CLI::App* app;
  std::function<int()> run;
};

/// A profile from logs of nccl-tests: `amsp-profile import LOG...`.
ProfileCommand add_import_command(CLI::App& program);

/// What a scenario needs measured: `amsp-profile plan SCENARIO`.
ProfileCommand add_plan_command(CLI::App& program);

/// Measures this machine for a scenario: `amsp-profile measure SCENARIO`.
ProfileCommand add_measure_command(CLI::App& program);

}  // namespace amsp
