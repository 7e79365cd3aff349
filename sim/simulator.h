#pragma once

#include "lowering/lowering.h"
#include "traces/engine.h"

namespace amsp {

/// Plays the graph on the simulated cluster: every rank, contention and overlap included.
class Simulator : public Engine {
 public:
  /// `lowering` is of the same graph that run() gets, and must outlive the simulator.
  explicit Simulator(const Lowering& lowering) : lowering_(lowering) {}

  Timeline run(const TaskGraph& graph) override;
  /// Of the last run.
  std::size_t activities() const { return activities_; }

 private:
  const Lowering& lowering_;
  std::size_t activities_ = 0;
};

}  // namespace amsp
