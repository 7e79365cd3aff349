#include "executor/fabric/local_ranks.h"

#include "core/error.h"
#include "executor/fabric/local_ring.h"
#include "executor/fabric/lost_rank.h"

namespace amsp {

LocalRanks::LocalRanks(int size, std::chrono::milliseconds patience)
    : size_(size),
      patience_(patience),
      texts_(static_cast<std::size_t>(size)),
      here_(static_cast<std::size_t>(size)),
      lost_(static_cast<std::size_t>(size)) {}

std::vector<std::string> LocalRanks::exchange(Rank rank, const std::string& text) {
  std::unique_lock lock(mutex_);
  texts_[static_cast<std::size_t>(rank)] = text;
  here_[static_cast<std::size_t>(rank)] = true;
  if (first_missing(false) < 0) {
    result_ = std::make_shared<const std::vector<std::string>>(texts_);
    here_.assign(here_.size(), false);
    ++round_;
    changed_.notify_all();
    return *result_;
  }
  const auto done = [this, round = round_] { return round_ != round; };
  changed_.wait_for(lock, patience_, [&] { return done() || first_missing(true) >= 0; });
  if (done()) return *result_;
  if (const Rank lost = first_missing(true); lost >= 0) {
    throw LostRank(lost_[static_cast<std::size_t>(lost)]);
  }
  throw LostRank(lost_rank_text(first_missing(false), silence_text(patience_)));
}

Rank LocalRanks::first_missing(bool lost_only) const {
  for (std::size_t i = 0; i < here_.size(); ++i) {
    if (!here_[i] && (!lost_only || !lost_[i].empty())) return static_cast<Rank>(i);
  }
  return -1;
}

std::shared_ptr<LocalRing> LocalRanks::ring(const std::string& key,
                                            const std::vector<Rank>& ranks) {
  const std::lock_guard lock(mutex_);
  std::shared_ptr<LocalRing>& ring = rings_[key];
  if (!ring) {
    ring = std::make_shared<LocalRing>(ranks, patience_);
    for (const Rank rank : ranks) {
      const std::string& reason = lost_[static_cast<std::size_t>(rank)];
      if (!reason.empty()) ring->lose(rank, reason);
    }
  }
  return ring;
}

void LocalRanks::note_failure(Rank rank) {
  const std::lock_guard lock(mutex_);
  if (first_failure_ < 0) first_failure_ = rank;
}

void LocalRanks::lose(Rank rank, const std::string& reason) {
  const std::lock_guard lock(mutex_);
  lost_[static_cast<std::size_t>(rank)] = reason;
  changed_.notify_all();
  for (const auto& [key, ring] : rings_) ring->lose(rank, reason);
}

Rank LocalRanks::first_failure() const {
  const std::lock_guard lock(mutex_);
  return first_failure_;
}

}  // namespace amsp
