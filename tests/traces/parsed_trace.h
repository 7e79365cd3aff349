#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/json/json.h"
#include "traces/timeline/analysis.h"

namespace amsp {

/// One rank of a trace as a reader finds it that knows nothing but the text. Times come through
/// doubles, as in Perfetto.
struct ParsedRank {
  Nanoseconds begin, end;               // from the first ProfilerStep to the last
  std::map<std::int64_t, Json> events;  // kernels by correlation, that is in task order
};

ParsedRank parse_rank(const Json& trace, Rank rank);
Nanoseconds start_of(const Json& event);
Nanoseconds end_of(const Json& event);
/// The breakdown from op and phase of the kernels.
RankBreakdown break_down(const ParsedRank& rank);

}  // namespace amsp
