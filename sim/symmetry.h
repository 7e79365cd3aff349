#pragma once

#include <vector>

#include "lowering/lowering.h"

namespace amsp {

/// A partition into classes 0 .. count()-1, numbered by their first members.
struct Classes {
  std::vector<int> of;     // by member
  std::vector<int> first;  // by class: its first member

  int count() const { return static_cast<int>(first.size()); }
};

/// Ranks, process groups and links that behave alike (docs/folding.md): the coarsest partition in
/// which
///   ranks of a class have equal optimizer shards, and their groups of every mesh are of one class;
///   groups of a class are of one mesh, hold the same classes of ranks, and load the same classes
///     of links by the same labels;
///   links of a class have equal capacity, and are loaded by the same multiset of (class of group,
///     label).
struct Symmetry {
  Classes ranks;
  Classes groups;  // numbered as in LoadGraph
  Classes links;
  int rounds = 0;
};

/// By colour refinement, in rounds until nothing splits: O(rounds * edges * log(edges of one)).
/// `ranks_per_draw` > 0: ranks of a class are also in one group of so many consecutive ranks.
Symmetry find_symmetry(const Lowering& lowering, int ranks_per_draw = 0);

}  // namespace amsp
