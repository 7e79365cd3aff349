#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/json/json.h"
#include "trace_analysis/analyse.h"

namespace amsp {

/// One row of the memory chart.
struct MemoryBar {
  std::string name;
  std::int64_t bytes;
  std::string how;
};

struct ReportOptions {
  std::string title;
  std::vector<int> ranks;             // of the timeline; empty: the first eight
  const Analysis* against = nullptr;  // compare: the waterfall goes from there to here
  std::vector<MemoryBar> memory;      // empty: no chart
  std::int64_t memory_capacity = 0;   // bytes; 0: unknown
  std::optional<OrderedJson> plans;   // plan_points()
  std::size_t most_events = 200'000;  // drawn; the shortest are left out, and the page says so
};

/// One self-contained HTML page that works offline: timeline with zoom, waterfall, exposed
/// communication by rank, critical path, memory, and charts of a search. Same input, same bytes.
/// Throws ConfigError for a rank that the traces don't have.
std::string html_report(const Analysis& analysis, const ReportOptions& options);

}  // namespace amsp
