#include "executor/fabric/local_ring.h"

#include <algorithm>
#include <cstring>

#include "core/error.h"
#include "executor/fabric/lost_rank.h"

namespace amsp {

template <typename Condition>
void LocalLink::wait(std::unique_lock<std::mutex>& lock, Rank peer,
                     std::chrono::milliseconds patience, Condition condition) {
  const bool came =
      changed_.wait_for(lock, patience, [&] { return condition() || !closed_.empty(); });
  if (condition()) return;
  if (!came) {
    throw LostRank(lost_rank_text(peer, silence_text(patience)));
  }
  throw LostRank(closed_);
}

void LocalLink::send(std::span<const std::byte> bytes) {
  const std::lock_guard lock(mutex_);
  if (!closed_.empty()) throw LostRank(closed_);
  offered_.push_back(bytes);
  changed_.notify_all();
}

void LocalLink::wait_sent(Rank peer, std::chrono::milliseconds patience) {
  std::unique_lock lock(mutex_);
  wait(lock, peer, patience, [&] { return received_ > finished_; });
  ++finished_;
}

void LocalLink::receive(std::span<std::byte> bytes, Rank peer, std::chrono::milliseconds patience) {
  std::unique_lock lock(mutex_);
  wait(lock, peer, patience, [&] { return !offered_.empty() && closed_.empty(); });
  const std::span<const std::byte> from = offered_.front();
  copying_ = true;
  lock.unlock();
  const bool same = from.size() == bytes.size();
  if (same) std::memcpy(bytes.data(), from.data(), bytes.size());
  lock.lock();
  copying_ = false;
  offered_.pop_front();
  ++received_;
  changed_.notify_all();
  AMSP_CHECK(same, "{} bytes came where {} were expected: members differ in their messages",
             from.size(), bytes.size());
}

void LocalLink::close(const std::string& reason) {
  const std::lock_guard lock(mutex_);
  if (closed_.empty()) closed_ = reason;
  changed_.notify_all();
}

void LocalLink::wait_unread() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return !copying_; });
}

class LocalRingLinks : public RingLinks {
 public:
  LocalRingLinks(std::shared_ptr<LocalRing> ring, int position)
      : ring_(std::move(ring)), position_(position) {}

  int size() const override { return static_cast<int>(ring_->ranks_.size()); }
  int position() const override { return position_; }
  Rank rank() const override { return ring_->rank_at(position_); }

  void start_send(std::span<const std::byte> bytes) override {
    ring_->to_next(position_).send(bytes);
  }
  void finish_send() override {
    ring_->to_next(position_).wait_sent(ring_->rank_at(position_ + 1), ring_->patience_);
  }
  void start_receive(std::span<std::byte> bytes) override { posted_.push_back(bytes); }
  void finish_receive() override {
    ring_->from_previous(position_).receive(posted_.front(), ring_->rank_at(position_ - 1),
                                            ring_->patience_);
    posted_.pop_front();
  }
  void abandon(const std::string& reason) override { ring_->lose(rank(), reason); }
  void close(const std::string& reason) override {
    abandon(reason);
    ring_->to_next(position_).wait_unread();
  }

 private:
  std::shared_ptr<LocalRing> ring_;
  int position_;
  std::deque<std::span<std::byte>> posted_;
};

LocalRing::LocalRing(std::vector<Rank> ranks, std::chrono::milliseconds patience)
    : ranks_(std::move(ranks)), patience_(patience), links_(ranks_.size()) {}

LocalLink& LocalRing::from_previous(int position) {
  return to_next((position + static_cast<int>(links_.size()) - 1) %
                 static_cast<int>(links_.size()));
}

Rank LocalRing::rank_at(int position) const {
  const int n = static_cast<int>(ranks_.size());
  return ranks_[static_cast<std::size_t>((position + n) % n)];
}

void LocalRing::lose(Rank rank, const std::string& reason) {
  const auto found = std::find(ranks_.begin(), ranks_.end(), rank);
  if (found == ranks_.end()) return;
  const int position = static_cast<int>(found - ranks_.begin());
  to_next(position).close(reason);
  from_previous(position).close(reason);
}

std::unique_ptr<RingLinks> LocalRing::links(std::shared_ptr<LocalRing> ring, int position) {
  return std::make_unique<LocalRingLinks>(std::move(ring), position);
}

}  // namespace amsp
