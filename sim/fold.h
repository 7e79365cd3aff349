#pragma once

#include <memory>

#include "schedule/repetition.h"
#include "sim/expansion.h"

namespace amsp {

/// Writes excerpts of a graph out for one representative of every class of ranks and process groups
/// that behave alike: the same times as expand() gives, at the cost of the classes instead of the
/// ranks. docs/folding.md says why. Where all ranks differ, every rank is its own class.
class Folding {
 public:
  /// Finds the classes. Keeps a reference to the lowering.
  /// `ranks_per_draw` > 0: ranks are alike only within groups of so many consecutive ones.
  explicit Folding(const Lowering& lowering, int ranks_per_draw = 0);
  ~Folding();

  /// `excerpt` is of the lowering's graph.
  Expansion expand(const Excerpt& excerpt) const;

 private:
  class Classes;
  std::unique_ptr<const Classes> classes_;
};

/// Of the whole graph.
Expansion fold(const Lowering& lowering);

}  // namespace amsp
