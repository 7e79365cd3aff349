#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "executor/fabric/ring_links.h"

namespace amsp {

/// One direction between two threads. The receiver copies out of the sender's memory.
class LocalLink {
 public:
  void send(std::span<const std::byte> bytes);
  /// Both: throw LostRank if the link is closed, or if the peer is silent for too long.
  void wait_sent(Rank peer, std::chrono::milliseconds patience);
  void receive(std::span<std::byte> bytes, Rank peer, std::chrono::milliseconds patience);
  /// The first reason is kept.
  void close(const std::string& reason);
  /// Returns when nobody reads the sender's memory any more. Requires close().
  void wait_unread();

 private:
  template <typename Condition>
  void wait(std::unique_lock<std::mutex>& lock, Rank peer, std::chrono::milliseconds patience,
            Condition condition);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::span<const std::byte>> offered_;
  std::int64_t received_ = 0;
  std::int64_t finished_ = 0;  // of those received, by the sender
  bool copying_ = false;
  std::string closed_;
};

/// The links of a group's members, from each to the next.
class LocalRing {
 public:
  LocalRing(std::vector<Rank> ranks, std::chrono::milliseconds patience);
  /// Closes the links of `rank`, if it is a member.
  void lose(Rank rank, const std::string& reason);
  /// The links of one member, for its one user; they keep the ring alive.
  static std::unique_ptr<RingLinks> links(std::shared_ptr<LocalRing> ring, int position);

 private:
  friend class LocalRingLinks;
  LocalLink& to_next(int position) { return links_[static_cast<std::size_t>(position)]; }
  LocalLink& from_previous(int position);
  Rank rank_at(int position) const;

  std::vector<Rank> ranks_;
  std::chrono::milliseconds patience_;
  std::vector<LocalLink> links_;
};

}  // namespace amsp
