#pragma once

#include <optional>
#include <string>
#include <vector>

#include "planner/search/search.h"

namespace amsp {

/// The best candidate if one figure of the hardware were another, against today's winner.
struct SensitivityRow {
  std::string what;                // "bandwidth between nodes"
  double change = 0;               // -0.25: a quarter less
  std::optional<Candidate> best;   // none fits
  Seconds time;                    // of the best, by the objective
  Seconds fastest;                 // of all: a tie may have made a slower one the best
  std::optional<Seconds> keeping;  // of today's winner; absent if it doesn't fit
  bool same = false;               // the winner stays

  /// What keeping today's winner costs: 0.05 is 5 %. Below kTie only memory speaks for a change.
  std::optional<double> regret() const {
    if (!keeping || !best) return std::nullopt;
    return *keeping / fastest - 1;
  }
};

struct Sensitivity {
  Candidate winner;  // today's
  std::vector<SensitivityRow> rows;
  bool interrupted = false;
};

/// Searches again with each of bandwidth inside nodes, bandwidth between nodes, latency, compute
/// rate and GPU memory 10, 25 and 50 % lower and higher. `base` is the search as things are, not
/// empty. `begin` is told which of how many searches comes next.
Sensitivity sensitivity(const PlanningCase& question, const SearchOptions& options,
                        const Runner& runner, const SearchResult& base,
                        const std::function<void(std::size_t, std::size_t)>& begin,
                        const std::function<void(const SensitivityRow&)>& known);

}  // namespace amsp
