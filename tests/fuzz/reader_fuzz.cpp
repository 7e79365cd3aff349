#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/error.h"
#include "core/json/json.h"
#include "trace_analysis/report/summary.h"
#include "trace_analysis/trace_diff.h"
#include "trace_analysis/trace_path.h"
#include "trace_reader/load_traces.h"
#include "traces/check/trace_rules.h"

/// Any bytes: read, summarised, walked and compared with themselves, or refused by ConfigError.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace amsp;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const bool forgiving : {false, true}) {
    LoadOptions options;
    options.read = {forgiving, forgiving};
    try {
      const Analysis analysis =
          analyse(load_trace_text(text, "fuzz.json", options), WindowChoice::kAuto);
      summary_text(analysis);
      path_json(analysis);
      const TraceDiff diff = diff_traces(analysis, analysis);
      if (diff.step_a != diff.step_b || diff.absolute_error != 0_ns || !diff.only_a.empty())
        __builtin_trap();
      const std::string merged = merged_trace(diff, analysis, analysis);
      if (!broken_trace_rules(merged, RuleSet::kViewers).empty()) __builtin_trap();
    } catch (const ConfigError&) {
    }
  }
  broken_trace_rules(text, RuleSet::kViewers);
  return 0;
}
