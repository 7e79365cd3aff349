#pragma once

#include <cstddef>
#include <vector>

#include "core/units.h"

namespace amsp {

/// What a ranking looks at.
struct Rated {
  Seconds time;
  Bytes memory;
};

/// Times that differ by no more are a tie, which lower memory wins.
constexpr double kTie = 0.01;

/// Best first, as indices into `rated`. The next place goes to the one with the least memory among
/// all that are within `tie` of the fastest left; equal memory goes to the lower time, then to the
/// lower index. So whoever costs no more memory and no more time than another never stands
/// behind it, unless both are equal.
std::vector<std::size_t> rank(const std::vector<Rated>& rated, double tie = kTie);

/// Those that no other beats in one of time and memory without losing in the other; fastest first.
/// Of equals the first.
std::vector<std::size_t> pareto_front(const std::vector<Rated>& rated);

}  // namespace amsp
