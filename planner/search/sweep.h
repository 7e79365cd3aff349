#pragma once

#include <optional>
#include <string>
#include <vector>

#include "planner/search/search.h"

namespace amsp {

/// One case of a sweep; without a question if the case is impossible (`why_not`).
struct SweepCase {
  std::string label;  // "64 GPUs"
  std::optional<PlanningCase> question;
  std::string why_not;
};

/// The scenario on other numbers of GPUs, at its global batch. `list` is "8,16,32" or
/// "8,16,...,1024", where "..." goes on by the ratio of the two numbers before it. Throws
/// ConfigError for what is no list of numbers of GPUs that fill nodes, and if the scenario's plan
/// has a dp of its own.
std::vector<SweepCase> gpu_cases(const PlanningCase& base, const std::string& list);
/// The scenario with other numbers of micro-batches a step, hence other global batches.
std::vector<SweepCase> micro_batch_cases(const PlanningCase& base, const std::string& list);
/// The scenario on other clusters, at its global batch; files hold what a scenario has under
/// "cluster". Throws ConfigError for a file that isn't of this form.
std::vector<SweepCase> cluster_cases(const PlanningCase& base,
                                     const std::vector<std::string>& files);

/// A case with its search; without a result if it is impossible, or wasn't reached.
struct SweepPoint {
  std::string label;
  std::string why_not;
  std::optional<PlanningCase> question;
  std::optional<SearchResult> result;

  bool solved() const { return result && !result->empty(); }
};

struct Sweep {
  std::vector<SweepPoint> points;
  bool interrupted = false;

  /// Every plan that wins somewhere, in the order of the points.
  std::vector<ShardingPlan> winners() const;
};

/// `begin` is told which of how many searches comes next.
Sweep sweep(std::vector<SweepCase> cases, const SearchOptions& options, const Runner& runner,
            const std::function<void(std::size_t, std::size_t)>& begin,
            const std::function<void(const SweepPoint&)>& known);

}  // namespace amsp
