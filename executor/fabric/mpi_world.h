#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "executor/interface/world.h"

namespace amsp {

/// A rank that is a process of an MPI job, or the only one if nothing launched it. One a process,
/// used by the thread that made it. It sleeps while it waits.
class MpiWorld : public World {
 public:
  /// A rank that doesn't come for `patience` is taken for lost; one that ends on this machine is
  /// noticed at once. DeviceError if MPI doesn't start.
  explicit MpiWorld(std::chrono::milliseconds patience = std::chrono::minutes(5));
  MpiWorld(const MpiWorld&) = delete;
  MpiWorld& operator=(const MpiWorld&) = delete;
  /// Waits for all ranks to come here, unless a rank was lost or an exception is on its way: then
  /// MPI is left as it is, for the survivors would hang in it. End such a process by abort().
  ~MpiWorld() override;

  Rank rank() const override { return rank_; }
  int size() const override { return size_; }
  std::vector<std::string> exchange(const std::string& text) override;

  /// Ends this process with `exit_code`, and all others of the job. Runs no destructors; flushes
  /// C streams. The launcher may print a message of its own.
  [[noreturn]] void abort(int exit_code);

 private:
  void watch_peers();
  /// Waits for what `is_done` asks for. Throws LostRank.
  template <typename IsDone>
  void wait(IsDone is_done);

  std::chrono::milliseconds patience_;
  Rank rank_ = 0;
  int size_ = 1;
  bool failed_ = false;
  std::vector<Rank> watched_;
  std::vector<int> watches_;  // file descriptors that become readable when a rank's process ends
};

}  // namespace amsp
