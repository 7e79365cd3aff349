#pragma once

#include <string>

#include "core/json/json_fwd.h"
#include "trace_analysis/trace_diff.h"

namespace amsp {

/// Events of one side that found no partner: how many and how long, then rank by rank, those of
/// ranks that lack the same together: how many each, and the longest few by name. Empty if there
/// are none. For people; `name` is what the side is called.
std::string unmatched_text(const char* name, const std::vector<Unmatched>& list,
                           const Analysis& side);
/// All of them, longest first.
OrderedJson unmatched_json(const std::vector<Unmatched>& list, const Analysis& side);
/// By rank: how many, how long, and the longest few.
OrderedJson unmatched_by_rank_json(const std::vector<Unmatched>& list, const Analysis& side);

}  // namespace amsp
