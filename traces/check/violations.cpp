#include "traces/check/violations.h"

#include <fmt/core.h>

#include <algorithm>

namespace amsp {

std::vector<std::string> Violations::lines() const {
  std::vector<std::pair<std::int64_t, std::string>> sorted = entries_;
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string> lines;
  lines.reserve(sorted.size());
  for (const auto& [event, reason] : sorted)
    lines.push_back(event == kTrace ? "trace: " + reason
                                    : fmt::format("event {}: {}", event, reason));
  return lines;
}

}  // namespace amsp
