#pragma once

#include <gtest/gtest.h>

#include <ostream>
#include <string>

#include "core/error.h"
#include "core/json/json.h"

namespace amsp {

/// A scenario that has to be refused, as a change of data/base.json: LLaMA-7B by zero1 on 8 nodes
/// of 8 A800, 1024 sequences a step.
struct BadScenario {
  const char* name;
  const char* patch;    // JSON merge patch (RFC 7396): null removes a key
  const char* message;  // the whole message: its wording is part of the interface
  ExitCode exit = kExitConfig;
};

/// For failures and lists of tests.
inline void PrintTo(const BadScenario& bad, std::ostream* out) {
  *out << bad.name;
}

inline std::string test_name(const testing::TestParamInfo<BadScenario>& info) {
  return info.param.name;
}

/// The outcome of reading: what a program would print, and the code with which it would end.
struct Outcome {
  std::string message;  // empty if it was accepted
  ExitCode exit = kExitOk;
};

/// tests/scenario/data.
std::string data_folder();
Json base_scenario();

/// read_scenario under the name "s.json", in the folder data/; so Hugging Face paths start there.
Outcome outcome_of(const Json& scenario);
/// parse_json and outcome_of.
Outcome outcome_of_text(const std::string& text);

/// Reads and compares.
void expect_refused(const BadScenario& bad);

}  // namespace amsp
