#pragma once

#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "topology/spec/mesh.h"

namespace amsp {

class LocalRing;

/// State that ranks of one process share. Thread-safe.
class LocalRanks {
 public:
  LocalRanks(int size, std::chrono::milliseconds patience);
  int size() const { return size_; }
  std::chrono::milliseconds patience() const { return patience_; }

  /// World::exchange of `rank`.
  std::vector<std::string> exchange(Rank rank, const std::string& text);

  /// The ring of these ranks that all its members name with the same key. The first creates it.
  std::shared_ptr<LocalRing> ring(const std::string& key, const std::vector<Rank>& ranks);

  /// `rank` failed for a cause of its own; the first such rank is kept.
  void note_failure(Rank rank);
  /// `rank` will do no more: whoever waits for it throws LostRank(reason).
  void lose(Rank rank, const std::string& reason);
  /// The rank that failed first, or -1.
  Rank first_failure() const;

 private:
  /// The first rank (that is lost) of those which the round waits for, or -1.
  Rank first_missing(bool lost_only) const;

  const int size_;
  const std::chrono::milliseconds patience_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> texts_;
  std::vector<bool> here_;
  std::vector<std::string> lost_;  // reasons, by rank; empty: not lost
  int round_ = 0;
  std::shared_ptr<const std::vector<std::string>> result_;
  Rank first_failure_ = -1;
  std::map<std::string, std::shared_ptr<LocalRing>> rings_;
};

}  // namespace amsp
