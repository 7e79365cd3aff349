#pragma once

#include <memory>
#include <vector>

#include "lowering/lowering.h"
#include "sim/workload.h"
#include "traces/timeline/playback.h"

namespace amsp {

/// Plays the lowering's graph on the simulated cluster, contention and overlap included: one rank
/// of each class of ranks that behave alike, and of many micro-batches only as many as it takes
/// until they repeat. Throws ConfigError for a task of more than 9000 s alone. The graph must
/// outlive the timeline.
Playback simulate(const Lowering& lowering);

/// The same times, of every rank and micro-batch by itself (docs/folding.md). Throws ConfigError
/// for more than 50 million activities, too.
Playback simulate_every_rank(const Lowering& lowering);

/// simulate() again and again, with other factors: what is written out once is kept.
class Simulator {
 public:
  /// `lowering` must outlive the simulator. `ranks_per_draw`: groups of as many consecutive ranks
  /// may be told different factors, and are told apart therefore; 0: none.
  explicit Simulator(const Lowering& lowering, int ranks_per_draw = 0);
  ~Simulator();

  /// `factors`: of all compute times, by group of ranks; none: the times as they are.
  Playback run(const std::vector<double>& factors = {});

 private:
  struct Attempt;
  struct Folded;

  ActivityTimes play(Attempt& attempt, const std::vector<double>& factors) const;

  const Lowering& lowering_;
  int ranks_per_draw_;
  std::unique_ptr<Folded> folded_;
};

}  // namespace amsp
