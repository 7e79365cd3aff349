#pragma once

#include "tools/arguments.h"

namespace amsp {

// The commands of amsp-profile, one file each. Each adds itself to the program; what it returns
// keeps its options and must outlive the parsing.

/// A profile from logs of nccl-tests: `amsp-profile import LOG...`.
Command add_import_command(CLI::App& program);

/// What a scenario needs measured: `amsp-profile plan SCENARIO`.
Command add_plan_command(CLI::App& program);

/// Measures this machine for a scenario: `amsp-profile measure SCENARIO`.
Command add_measure_command(CLI::App& program);

}  // namespace amsp
