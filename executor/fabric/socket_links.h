#pragma once

#include <chrono>
#include <deque>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "executor/fabric/ring_links.h"

namespace amsp {

/// A file descriptor and its owner.
class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor();
  int get() const { return fd_; }

 private:
  int fd_;
};

/// Links over stream sockets. The thread that uses the links moves the bytes itself, while it waits
/// in finish_send() or finish_receive(): no other thread has to wake up for it.
///
/// From each member to the next there are two connections: one for data, one on which either end
/// says why it abandons the ring, before it closes.
class SocketLinks : public RingLinks {
 public:
  /// `host`: an IPv4 address of this process, or empty for sockets of this machine (Unix).
  SocketLinks(const std::string& host, std::vector<Rank> ranks, int position,
              std::chrono::milliseconds patience);
  SocketLinks(const SocketLinks&) = delete;
  SocketLinks& operator=(const SocketLinks&) = delete;
  ~SocketLinks() override = default;

  /// Where the previous member connects to, with the password that it has to say: as text.
  const std::string& address() const { return address_; }
  /// `address` of all members, by position. Blocks until both neighbours are connected.
  void connect(const std::vector<std::string>& addresses);

  int size() const override { return static_cast<int>(ranks_.size()); }
  int position() const override { return position_; }
  Rank rank() const override { return ranks_[static_cast<std::size_t>(position_)]; }
  void start_send(std::span<const std::byte> bytes) override { sends_.push_back(bytes); }
  void finish_send() override;
  void start_receive(std::span<std::byte> bytes) override { receives_.push_back(bytes); }
  void finish_receive() override;
  void abandon(const std::string& reason) override;
  void close(const std::string& reason) override;

 private:
  using Deadline = std::chrono::steady_clock::time_point;

  Rank next() const { return ranks_[static_cast<std::size_t>((position_ + 1) % size())]; }
  Rank previous() const {
    return ranks_[static_cast<std::size_t>((position_ + size() - 1) % size())];
  }
  void listen(const std::string& host);
  void dial(const std::string& address, Descriptor& socket, char purpose, Deadline deadline);
  void accept_previous(Deadline deadline);
  /// Moves what can be moved now.
  void send_some();
  void receive_some();
  /// Waits until something can move; `peer` is who is waited for.
  void wait(Rank peer, Deadline deadline);
  void hear(Descriptor& talk);
  [[noreturn]] void fail(Rank peer, const Descriptor& talk, const std::string& what);

  const std::vector<Rank> ranks_;
  const int position_;
  const std::chrono::milliseconds patience_;
  std::string address_, password_;
  Descriptor listener_;
  Descriptor to_next_, from_previous_;  // data
  Descriptor next_talk_, previous_talk_;
  Descriptor abandoned_;  // an eventfd

  // Of what was started: what is not yet moved. Moved ones count in done.
  std::deque<std::span<const std::byte>> sends_;
  std::deque<std::span<std::byte>> receives_;
  int sent_ = 0, received_ = 0;

  std::mutex mutex_;  // of what follows: abandon() comes from any thread
  std::string closed_;
};

}  // namespace amsp
