#pragma once

#include <string>

#include "planner/search/search.h"

namespace amsp {

/// Memory of a GPU against throughput, over all candidates with a step time. The front has those
/// that no other beats in one without losing in the other.

/// For a terminal: a plot of 76 columns, then the front as a table, fastest first.
std::string pareto_text(const PlanningCase& question, const SearchResult& result);
/// A picture on its own; pointing at a dot names its plan.
std::string pareto_svg(const PlanningCase& question, const SearchResult& result);

}  // namespace amsp
