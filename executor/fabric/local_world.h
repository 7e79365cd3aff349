#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "executor/interface/communicator.h"
#include "executor/interface/world.h"

namespace amsp {

/// What the ranks of one process share: who is lost, and the rings that must hear of it.
class LocalRanks;

/// A rank that is a thread of this process.
class LocalWorld : public World {
 public:
  LocalWorld(std::shared_ptr<LocalRanks> ranks, Rank rank);
  Rank rank() const override { return rank_; }
  int size() const override;
  std::vector<std::string> exchange(const std::string& text) override;

 private:
  std::shared_ptr<LocalRanks> ranks_;
  Rank rank_;
};

struct LocalOptions {
  /// A member that doesn't come for so long is taken for lost.
  std::chrono::milliseconds patience = std::chrono::minutes(5);
};

/// Runs `rank_program` as ranks 0 to n-1, each on a thread of its own, and returns when all have
/// ended. A rank that throws, or ends while others wait for it, is lost to them: they fail with
/// DeviceError "lost rank 3: <cause>". Then the failure of the rank that failed first, for a cause
/// of its own, is thrown.
///
/// The Fabric's communicators may be used by streams of the rank; they share memory, and cost a
/// copy. Nothing polls.
void run_local(int n, const std::function<void(World&, Fabric&)>& rank_program,
               const LocalOptions& options = {});

}  // namespace amsp
