#pragma once

#include <string>

#include "core/json/json_fwd.h"
#include "trace_analysis/analyse.h"

namespace amsp {

/// What was read and repaired, breakdown by rank and step, communication by kind and group, waits,
/// clocks, stragglers, unclassified time. For people, at most 100 columns; times in microseconds
/// with three decimals where they are exact sums.
std::string summary_text(const Analysis& analysis);
/// For programs ("amsp.trace-summary/1"); all times in nanoseconds.
OrderedJson summary_json(const Analysis& analysis);

/// The head that all reports share: files, ranks, steps used and excluded, repairs, clocks.
std::string provenance_text(const Analysis& analysis);
OrderedJson provenance_json(const Analysis& analysis);
/// What was wrong with the traces, all files and ranks together, a line for each that happened:
/// "incomplete: FILE: REASON", "repaired: 2 x KIND, ...", "events skipped: ...", "events set aside:
/// ...", "events in doubt: ...".
std::vector<std::string> fault_lines(const Analysis& analysis);

/// Of a step: window, parts, by kind and group.
OrderedJson parts_json(const StepParts& parts);

}  // namespace amsp
