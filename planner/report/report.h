#pragma once

#include <string>

#include "core/json/json_fwd.h"
#include "planner/search/search.h"
#include "planner/search/sensitivity.h"
#include "planner/search/sweep.h"

namespace amsp {

/// Candidates that were left out, by reason: "exceed 80.0 GiB, the nearest by 1.9 GiB (p 8x1 ...)".
struct Rejection {
  std::size_t count = 0;
  std::string reason;
  bool internal = false;
};
std::vector<Rejection> rejections(const SearchResult& result);

/// Tokens per GPU and second, and model FLOPs utilisation, at a step time.
double throughput(const TrainingSpec& training, Seconds step_time);
double utilisation(const Scenario& scenario, const TrainingSpec& training, Seconds step_time);

// For people; at most 100 columns.

/// What was searched, what the rules and memory removed, the best `top` and the baselines.
std::string search_text(const PlanningCase& question, const SearchResult& result, std::size_t top);
/// One line a case, then what every winner costs in every case.
std::string sweep_text(const Sweep& sweep, Objective objective);
std::string sensitivity_text(const Sensitivity& sensitivity);

// For programs: one JSON object a line, each with "kind"; units in keys.

OrderedJson space_json(const PlanningCase& question, const SearchResult& result);
/// Known of a candidate so far.
OrderedJson entry_json(const PlanningCase& question, const Entry& entry);
/// The ranking and the baselines; entries by plan and batch.
OrderedJson ranking_json(const PlanningCase& question, const SearchResult& result);
OrderedJson sweep_json(const SweepPoint& point);
OrderedJson sensitivity_json(const SensitivityRow& row);

}  // namespace amsp
