#include "executor/fabric/gloo_links.h"

#include <gloo/common/error.h>
#include <gloo/common/logging.h>
#include <gloo/transport/context.h>
#include <gloo/transport/device.h>

#include <algorithm>
#include <cstring>

#include "core/error.h"
#include "executor/fabric/lost_rank.h"

namespace amsp {
namespace {

using std::chrono::milliseconds;

constexpr std::uint64_t kDataSlot = 0;
constexpr std::uint64_t kNoticeSlot = 1;
/// gloo waits five times as long for a connection. All members are about to connect by then.
constexpr milliseconds kConnectPatience{4000};
/// For a notice to get out, or to come in before the end of its connection is dealt with.
constexpr milliseconds kNoticePatience{50};

std::string to_hex(const std::vector<char>& bytes) {
  std::string text;
  for (const char byte : bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return text;
}

std::vector<char> from_hex(std::string_view text) {
  std::vector<char> bytes;
  for (std::size_t i = 0; i + 1 < text.size(); i += 2) {
    bytes.push_back(static_cast<char>(std::stoi(std::string(text.substr(i, 2)), nullptr, 16)));
  }
  return bytes;
}

/// gloo says "[/path/pair.cc:123] Connection closed by peer [127.0.0.1]:4567": the words only.
std::string words_of(std::string text) {
  if (const auto end = text.find("] "); text.starts_with('[') && end != std::string::npos) {
    text.erase(0, end + 2);
  }
  if (const auto address = text.find(" ["); address != std::string::npos) {
    const auto end = std::min(text.find_first_of(": ", text.find("]:", address) + 2), text.size());
    text.erase(address, end - address);
  }
  return text;
}

}  // namespace

GlooLinks::GlooLinks(const std::shared_ptr<gloo::transport::Device>& device,
                     std::vector<Rank> ranks, int position, milliseconds patience)
    : ranks_(std::move(ranks)),
      position_(position),
      next_(neighbour(1)),
      previous_(neighbour(-1)),
      patience_(patience),
      context_(device->createContext(position, size())) {
  context_->setTimeout(std::min(patience, kConnectPatience));
  if (size() == 1) return;
  context_->createPair(next_);
  if (previous_ != next_) context_->createPair(previous_);
}

GlooLinks::~GlooLinks() {
  disconnect();
}

int GlooLinks::neighbour(int distance) const {
  return (position_ + distance + size()) % size();
}

std::string GlooLinks::addresses() const {
  if (size() == 1) return "";
  const auto address = [&](int peer) { return to_hex(context_->getPair(peer)->address().bytes()); };
  return address(next_) + " " + address(previous_);
}

void GlooLinks::connect(const std::vector<std::string>& addresses) {
  if (size() == 1) return;
  const auto connect_to = [&](int peer) {
    const std::string& theirs = addresses[static_cast<std::size_t>(peer)];
    const std::size_t space = theirs.find(' ');
    // To the next member I am the previous one.
    const std::string address = peer == next_ ? theirs.substr(space + 1) : theirs.substr(0, space);
    try {
      context_->getPair(peer)->connect(from_hex(address));
    } catch (const std::exception& error) {
      throw LostRank(lost_rank_text(rank_at(peer), words_of(error.what())));
    }
    expect_notice(peer);
  };
  // The connection of i with i + 1 is number i. Each waits for both of its members, so all take
  // them in ascending order.
  if (previous_ != next_ && previous_ < position_) connect_to(previous_);
  connect_to(next_);
  if (previous_ != next_ && previous_ > position_) connect_to(previous_);
}

void GlooLinks::expect_notice(int position) {
  Notice& notice = notice_from(position);
  notice.buffer = context_->createUnboundBuffer(notice.text.data(), notice.text.size());
  notice.buffer->recv(position, kNoticeSlot);
}

void GlooLinks::start(std::deque<Buffer>& queue, Buffer buffer, int peer, bool send) {
  const std::lock_guard lock(mutex_);
  if (!closed_.empty()) throw LostRank(closed_);
  queue.push_back(std::move(buffer));
  try {
    if (send) {
      queue.back()->send(peer, kDataSlot);
    } else {
      queue.back()->recv(peer, kDataSlot);
    }
  } catch (const std::exception& error) {
    fail(peer, error.what());
  }
}

void GlooLinks::finish(std::deque<Buffer>& queue, int peer, bool send) {
  gloo::transport::UnboundBuffer* buffer = nullptr;
  {
    const std::lock_guard lock(mutex_);
    buffer = queue.front().get();
  }
  bool done = false;
  try {
    done = send ? buffer->waitSend(patience_) : buffer->waitRecv(patience_);
  } catch (const std::exception& error) {
    fail(peer, error.what());
  }
  const std::lock_guard lock(mutex_);
  if (!done) throw LostRank(closed_);
  queue.pop_front();
}

void GlooLinks::fail(int peer, const std::string& what) {
  if (what.find("Timed out waiting") != std::string::npos) {
    throw LostRank(lost_rank_text(rank_at(peer), silence_text(patience_)));
  }
  // The connection is closed, so a notice has come or never will.
  Notice& notice = notice_from(peer);
  bool noticed = false;
  try {
    noticed = notice.buffer->waitRecv(kNoticePatience);
  } catch (const std::exception&) {
    noticed = false;
  }
  if (noticed) throw LostRank(notice.text.data());
  throw LostRank(lost_rank_text(rank_at(peer), words_of(what)));
}

void GlooLinks::start_send(std::span<const std::byte> bytes) {
  // gloo doesn't write to what it sends.
  start(sends_, context_->createUnboundBuffer(const_cast<std::byte*>(bytes.data()), bytes.size()),
        next_, true);
}
void GlooLinks::finish_send() {
  finish(sends_, next_, true);
}

void GlooLinks::start_receive(std::span<std::byte> bytes) {
  start(receives_, context_->createUnboundBuffer(bytes.data(), bytes.size()), previous_, false);
}
void GlooLinks::finish_receive() {
  finish(receives_, previous_, false);
}

void GlooLinks::abandon(const std::string& reason) {
  const std::lock_guard lock(mutex_);
  if (!closed_.empty() || size() == 1) return;
  closed_ = reason;
  std::strncpy(own_.text.data(), reason.c_str(), own_.text.size() - 1);
  std::vector<int> peers = {next_};
  if (previous_ != next_) peers.push_back(previous_);
  for (const int peer : peers) {
    try {
      Buffer notice = context_->createUnboundBuffer(own_.text.data(), own_.text.size());
      notice->send(peer, kNoticeSlot);
      notices_.push_back(std::move(notice));
    } catch (const std::exception&) {
      // This one is gone: it needs no notice.
    }
  }
  for (const Buffer& buffer : sends_) buffer->abortWaitSend();
  for (const Buffer& buffer : receives_) buffer->abortWaitRecv();
}

void GlooLinks::close(const std::string& reason) {
  abandon(reason);
  for (const Buffer& notice : notices_) {
    try {
      notice->waitSend(kNoticePatience);
    } catch (const std::exception&) {
      // The neighbour will see the connection end.
    }
  }
  disconnect();
}

void GlooLinks::disconnect() {
  if (size() == 1) return;
  // First the pairs: they refer to the buffers.
  context_->getPair(next_).reset();
  context_->getPair(previous_).reset();
  const std::lock_guard lock(mutex_);
  sends_.clear();
  receives_.clear();
  notices_.clear();
}

}  // namespace amsp
