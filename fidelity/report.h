#pragma once

#include <string>
#include <vector>

#include "core/json/json_fwd.h"
#include "fidelity/compare.h"

namespace amsp {

/// For people; fits 100 columns. With `rows`, every row; else statistics only.
std::string fidelity_text(const std::vector<ComparedSet>& sets, bool rows);

/// For programs ("amsp.fidelity/1"): errors are fractions, units stand in keys.
OrderedJson fidelity_json(const std::vector<ComparedSet>& sets);

/// One line a row, skipped ones included.
std::string fidelity_csv(const std::vector<ComparedSet>& sets);

/// Predicted against measured tokens per GPU and second, one point a row, with the diagonal and
/// lines 10 % off; where nothing but memory was measured, GiB. Throws InfeasibleError if there is
/// no point.
std::string fidelity_svg(const std::vector<ComparedSet>& sets);

}  // namespace amsp
