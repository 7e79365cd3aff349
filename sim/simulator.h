#pragma once

#include <memory>
#include <vector>

#include "lowering/lowering.h"
#include "sim/expansion.h"
#include "traces/timeline/engine.h"

namespace amsp {

/// What is simulated: everything, or one of each class of ranks that behave alike, and of many
/// micro-batches only as many as it takes until they repeat. The times are the same
/// (docs/folding.md).
enum class Network { kFull, kFolded };

/// Plays the graph on the simulated cluster, contention and overlap included. run() throws
/// ConfigError for a task of more than 9000 s alone, and for more than 50 million activities.
class Simulator : public Engine {
 public:
  /// `lowering` is of the same graph that run() gets, and must outlive the simulator.
  /// `ranks_per_draw`: groups of as many consecutive ranks may be told different factors, and are
  /// told apart therefore; 0: none.
  explicit Simulator(const Lowering& lowering, Network network = Network::kFolded,
                     int ranks_per_draw = 0);
  ~Simulator() override;

  Timeline run(const TaskGraph& graph) override;
  /// With all compute times multiplied by a factor, by group of ranks; folded only. What is written
  /// out once is kept for the next call.
  Timeline run_jittered(const std::vector<double>& factors);
  /// Of the last run.
  std::size_t activities() const { return activities_; }
  int rank_classes() const { return rank_classes_; }
  int batches_played() const { return batches_played_; }

 private:
  struct Folded;
  struct Attempt;

  Timeline run_full();
  Timeline run_folded(const std::vector<double>& factors);
  ActivityTimes play(const Expansion& expansion);
  ActivityTimes play(Attempt& attempt, const std::vector<double>& factors);

  const Lowering& lowering_;
  Network network_;
  int ranks_per_draw_;
  std::unique_ptr<Folded> folded_;
  std::size_t activities_ = 0;
  int rank_classes_ = 0;
  int batches_played_ = 0;
};

}  // namespace amsp
