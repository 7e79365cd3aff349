#pragma once

#include <string>

#include "tests/trace_reader/event_text.h"
#include "trace_analysis/analyse.h"
#include "trace_reader/load_traces.h"

namespace amsp {

/// An analysed trace from memory.
inline Analysis analysed(const std::string& text, const LoadOptions& options = {},
                         WindowChoice choice = WindowChoice::kAuto) {
  return analyse(load_trace_text(text, "trace.json", options), choice);
}

}  // namespace amsp
