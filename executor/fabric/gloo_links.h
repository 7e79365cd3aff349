#pragma once

#include <array>
#include <chrono>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "executor/fabric/ring_links.h"

namespace gloo::transport {
class Context;
class Device;
class UnboundBuffer;
}  // namespace gloo::transport

namespace amsp {

/// Links over gloo's pairs with the two neighbours; in a group of two they are one pair. A member
/// that fails tells its neighbours why before it closes the connections.
class GlooLinks : public RingLinks {
 public:
  GlooLinks(const std::shared_ptr<gloo::transport::Device>& device, std::vector<Rank> ranks,
            int position, std::chrono::milliseconds patience);
  GlooLinks(const GlooLinks&) = delete;
  GlooLinks& operator=(const GlooLinks&) = delete;
  ~GlooLinks() override;

  /// Where the neighbours connect to: as text, for the next and the previous member.
  std::string addresses() const;
  /// `addresses` of all members, by position. Blocks until both neighbours are connected.
  void connect(const std::vector<std::string>& addresses);

  int size() const override { return static_cast<int>(ranks_.size()); }
  int position() const override { return position_; }
  Rank rank() const override { return rank_at(position_); }
  void start_send(std::span<const std::byte> bytes) override;
  void finish_send() override;
  void start_receive(std::span<std::byte> bytes) override;
  void finish_receive() override;
  void abandon(const std::string& reason) override;
  void close(const std::string& reason) override;

 private:
  using Buffer = std::unique_ptr<gloo::transport::UnboundBuffer>;
  /// What a neighbour says before it closes a connection: a text that ends with a zero.
  struct Notice {
    std::array<char, 256> text{};
    Buffer buffer;
  };

  int neighbour(int distance) const;
  Rank rank_at(int position) const { return ranks_[static_cast<std::size_t>(position)]; }
  Notice& notice_from(int position) { return position == next_ ? from_next_ : from_previous_; }
  void expect_notice(int position);
  void start(std::deque<Buffer>& queue, Buffer buffer, int peer, bool send);
  void finish(std::deque<Buffer>& queue, int peer, bool send);
  [[noreturn]] void fail(int peer, const std::string& what);
  void disconnect();

  const std::vector<Rank> ranks_;
  const int position_;
  const int next_;
  const int previous_;
  const std::chrono::milliseconds patience_;
  std::shared_ptr<gloo::transport::Context> context_;
  Notice from_next_, from_previous_, own_;

  std::mutex mutex_;  // of what follows: abandon() comes from any thread
  std::deque<Buffer> sends_, receives_;
  std::vector<Buffer> notices_;  // under way
  std::string closed_;
};

}  // namespace amsp
