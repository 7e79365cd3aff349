#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace amsp {

/// Which rules to apply.
enum class RuleSet {
  kViewers,  // what viewers drop or misread, for traces of anyone
  kSchema,   // those, and our own schema: what tools need beyond viewers
};

/// What Perfetto, chrome://tracing or HolisticTraceAnalysis would drop, misread or refuse in a
/// trace, and where it is not of our schema (docs/trace-format.md lists the rules). One line each:
///   "trace: REASON" for the file as a whole, then
///   "event N: REASON" by position in traceEvents, from 0.
/// Empty: the trace is good. `json_text` is the unpacked text. After a syntax error only what
/// came before it was looked at.
std::vector<std::string> broken_trace_rules(std::string_view json_text,
                                            RuleSet rules = RuleSet::kSchema);
/// Whether the text claims to be of our schema: metadata.semantic_schema is there.
bool claims_our_schema(std::string_view json_text);

}  // namespace amsp
