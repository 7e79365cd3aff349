#include "executor/world/world_tcp.h"

#include <fmt/core.h>
#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <list>
#include <span>

#include "core/error.h"
#include "executor/world/tcp_session.h"

namespace amsp {
namespace {

using Clock = std::chrono::steady_clock;
// For words that the system's buffers take at once.
constexpr auto kShortly = std::chrono::seconds(5);

double seconds(std::chrono::milliseconds time) {
  return std::chrono::duration<double>(time).count();
}

std::string place_of(const TcpWorldOptions& options) {
  return fmt::format("{}:{}", options.host, options.port);
}

/// "rank 2", "ranks 2, 5".
std::string name_ranks(const std::vector<Rank>& ranks) {
  std::string text = ranks.size() == 1 ? "rank" : "ranks";
  for (std::size_t i = 0; i < ranks.size(); ++i)
    text += fmt::format("{} {}", i == 0 ? "" : ",", ranks[i]);
  return text;
}

/// Waits until one of `descriptors` can be read, or the deadline. True for each that can.
std::vector<bool> readable(const std::vector<int>& descriptors, Deadline deadline) {
  std::vector<pollfd> waiting;
  for (const int descriptor : descriptors) waiting.push_back({descriptor, POLLIN, 0});
  const int ready = poll(waiting.data(), waiting.size(), milliseconds_until(deadline));
  if (ready < 0 && errno != EINTR) throw DeviceError(fmt::format("poll: {}", std::strerror(errno)));
  std::vector<bool> result;
  for (const pollfd& one : waiting) result.push_back(ready > 0 && one.revents != 0);
  return result;
}

/// Rank 0 until all ranks have come.
class Reception {
 public:
  explicit Reception(const TcpWorldOptions& options)
      : options_(options), sessions_(static_cast<std::size_t>(options.size)) {
    try {
      listener_ = TcpSocket::listen(options.host, options.port);
    } catch (const SocketFailure& failure) {
      throw DeviceError(
          fmt::format("rank 0: can't listen at {}: {}", place_of(options), failure.what()));
    }
  }

  /// Sessions by rank; that of rank 0 is empty.
  std::vector<TcpSession> run() {
    const Deadline deadline = Clock::now() + options_.start_timeout;
    std::vector<Rank> missing = absent();
    while (!missing.empty()) {
      if (Clock::now() >= deadline) fail_late(missing);
      // More at a time are strangers; they wait in the system's queue until others have gone.
      const bool full = guests_.size() >= static_cast<std::size_t>(options_.size) + 64;
      std::vector<int> descriptors = {full ? -1 : listener_.descriptor()};
      Deadline next = deadline;
      for (const Guest& guest : guests_) {
        descriptors.push_back(guest.socket.descriptor());
        next = std::min(next, guest.deadline);
      }
      const std::vector<bool> ready = readable(descriptors, next);
      std::size_t i = 1;
      for (auto guest = guests_.begin(); guest != guests_.end();) {
        const bool stays = ready[i++] ? listen_to(*guest) : Clock::now() < guest->deadline;
        if (!stays && !guest->judged) ++strangers_;
        guest = stays ? std::next(guest) : guests_.erase(guest);
      }
      if (ready[0]) welcome_guest();
      missing = absent();
    }
    for (TcpSession& session : others()) session.send({FrameKind::kWelcome, ""}, soon());
    return std::move(sessions_);
  }

 private:
  /// A connection that hasn't proved anything yet.
  struct Guest {
    TcpSocket socket;
    std::string nonce;
    std::string heard;
    Deadline deadline;
    bool judged = false;
  };

  static Deadline soon() { return Clock::now() + kShortly; }
  std::span<TcpSession> others() { return std::span(sessions_).subspan(1); }
  std::vector<Rank> absent() const {
    std::vector<Rank> ranks;
    for (Rank rank = 1; rank < options_.size; ++rank)
      if (!sessions_[static_cast<std::size_t>(rank)].socket()) ranks.push_back(rank);
    return ranks;
  }

  void welcome_guest() {
    constexpr auto kPatience = std::chrono::seconds(10);
    Guest guest{listener_.accept(), make_nonce(), "", Clock::now() + kPatience};
    if (!guest.socket) return;
    try {
      guest.socket.send_all(std::string(kMagic) + guest.nonce, Clock::now());
      guests_.push_back(std::move(guest));
    } catch (const SocketFailure&) {
      ++strangers_;
    }
  }

  /// False once the guest has become a member or is to go.
  bool listen_to(Guest& guest) {
    try {
      guest.heard += guest.socket.receive_some(kJoinBytes - guest.heard.size());
    } catch (const SocketFailure&) {
      return false;
    }
    const std::size_t known = std::min(guest.heard.size(), kMagic.size());
    if (guest.heard.compare(0, known, kMagic, 0, known) != 0) return false;
    if (guest.heard.size() < kJoinBytes) return true;
    judge(guest);
    return false;
  }

  void judge(Guest& guest) {
    guest.judged = true;
    const std::string_view heard = guest.heard;
    const Join join = {from_bytes(heard.substr(8, 4)), from_bytes(heard.substr(12, 4))};
    const std::string nonce(heard.substr(16, kNonceBytes));
    TcpSession session(std::move(guest.socket), options_.secret, guest.nonce, nonce, true);
    try {
      if (!same_bytes(guest.heard, make_join(options_.secret, join, guest.nonce, nonce))) {
        ++wrong_secrets_;
        session.send({FrameKind::kWrongSecret, ""}, soon());
        return;
      }
    } catch (const SocketFailure&) {
      return;
    }
    std::string mistake;
    if (join.size != static_cast<std::uint32_t>(options_.size))
      mistake = fmt::format("rank {} was started for {} ranks, rank 0 for {}", join.rank, join.size,
                            options_.size);
    else if (join.rank >= join.size || join.rank == 0)
      mistake = fmt::format("a second process calls itself rank {}", join.rank);
    else if (sessions_[join.rank].socket())
      mistake = fmt::format("two processes call themselves rank {}", join.rank);
    if (!mistake.empty()) {
      tell(session, {FrameKind::kMistake, mistake});
      for (TcpSession& other : others()) tell(other, {FrameKind::kMistake, mistake});
      throw ConfigError(mistake);
    }
    sessions_[join.rank] = std::move(session);
  }

  static void tell(TcpSession& session, const Frame& frame) {
    if (!session.socket()) return;
    try {
      session.send(frame, soon());
    } catch (const SocketFailure&) {  // it's gone as well
    }
  }
  [[noreturn]] void fail_late(const std::vector<Rank>& missing) {
    std::string text =
        fmt::format("{} of {} did not come to {} within {} s", name_ranks(missing), options_.size,
                    place_of(options_), seconds(options_.start_timeout));
    if (wrong_secrets_ > 0)
      text += fmt::format("; turned away {} with another AMSP_SECRET", wrong_secrets_);
    if (strangers_ > 0) text += fmt::format("; turned away {} who are no ranks", strangers_);
    for (TcpSession& session : others()) tell(session, {FrameKind::kFailure, text});
    throw DeviceError(text);
  }

  const TcpWorldOptions& options_;
  TcpSocket listener_;
  std::vector<TcpSession> sessions_;
  std::list<Guest> guests_;
  int wrong_secrets_ = 0;
  int strangers_ = 0;
};

/// Another rank joins.
TcpSession join(const TcpWorldOptions& options) {
  const Deadline deadline = Clock::now() + options.start_timeout;
  const std::string who = fmt::format("rank {}: rank 0 at {}", options.rank, place_of(options));
  try {
    TcpSocket socket = TcpSocket::connect(options.host, options.port, deadline);
    const std::string challenge = socket.receive(kChallengeBytes, deadline);
    if (challenge.substr(0, kMagic.size()) != kMagic)
      throw ConfigError(who + " is another program");
    const std::string nonce_a = challenge.substr(kMagic.size());
    const std::string nonce_b = make_nonce();
    const Join mine = {static_cast<std::uint32_t>(options.rank),
                       static_cast<std::uint32_t>(options.size)};
    socket.send_all(make_join(options.secret, mine, nonce_a, nonce_b), deadline);
    TcpSession session(std::move(socket), options.secret, nonce_a, nonce_b, false);
    // Rank 0 began to wait earlier or later: it says who is missing.
    const Frame frame = session.receive(deadline + options.start_timeout);
    if (frame.kind == FrameKind::kWrongSecret) throw ConfigError(who + " has another AMSP_SECRET");
    if (frame.kind == FrameKind::kMistake) throw ConfigError(frame.text);
    if (frame.kind == FrameKind::kFailure) throw DeviceError(frame.text);
    if (frame.kind != FrameKind::kWelcome) throw SocketFailure("sent an unexpected frame");
    return session;
  } catch (const SocketFailure& failure) {
    throw DeviceError(fmt::format("{}: {}", who, failure.what()));
  }
}

class TcpWorld final : public World {
 public:
  explicit TcpWorld(const TcpWorldOptions& options) : options_(options) {
    if (options.size == 1) return;
    require_secret(options);
    if (options.rank == 0)
      sessions_ = Reception(options_).run();
    else
      sessions_.push_back(join(options_));
  }

  Rank rank() const override { return options_.rank; }
  int size() const override { return options_.size; }

  std::vector<std::string> exchange(const std::string& text) override {
    AMSP_CHECK(text.size() <= TcpSession::kLongestText / static_cast<std::size_t>(size()),
               "exchange() of {} bytes", text.size());
    if (!ended_.empty()) throw DeviceError(ended_);
    if (size() == 1) return {text};
    try {
      return rank() == 0 ? collect(text) : send_and_wait(text);
    } catch (const DeviceError& error) {
      ended_ = error.what();
      throw;
    }
  }

 private:
  std::vector<std::string> collect(const std::string& text) {
    const Deadline deadline = Clock::now() + options_.exchange_timeout;
    std::vector<std::string> texts(static_cast<std::size_t>(size()));
    texts[0] = text;
    std::vector<Rank> missing;
    for (Rank rank = 1; rank < size(); ++rank) missing.push_back(rank);
    while (!missing.empty()) {
      if (Clock::now() >= deadline)
        end(fmt::format("{} did not come to an exchange within {} s", name_ranks(missing),
                        seconds(options_.exchange_timeout)));
      std::vector<int> descriptors;
      for (const Rank rank : missing) descriptors.push_back(session(rank).socket().descriptor());
      const std::vector<bool> ready = readable(descriptors, deadline);
      std::vector<Rank> still_missing;
      for (std::size_t i = 0; i < missing.size(); ++i) {
        if (ready[i])
          texts[static_cast<std::size_t>(missing[i])] = receive_from(missing[i], deadline);
        else
          still_missing.push_back(missing[i]);
      }
      missing = still_missing;
    }
    std::string all;
    for (const std::string& one : texts)
      all += to_bytes(static_cast<std::uint32_t>(one.size())) + one;
    for (Rank rank = 1; rank < size(); ++rank) {
      try {
        session(rank).send({FrameKind::kData, all}, deadline + kShortly);
      } catch (const SocketFailure& failure) {
        end(fmt::format("rank {} is lost: {}", rank, failure.what()));
      }
    }
    return texts;
  }

  std::string receive_from(Rank rank, Deadline deadline) {
    try {
      Frame frame = session(rank).receive(deadline);
      if (frame.kind != FrameKind::kData) throw SocketFailure("sent an unexpected frame");
      return std::move(frame.text);
    } catch (const SocketFailure& failure) {
      end(fmt::format("rank {} is lost: {}", rank, failure.what()));
    }
  }

  /// Tells all other ranks why, and throws it.
  [[noreturn]] void end(const std::string& why) {
    for (Rank rank = 1; rank < size(); ++rank) {
      try {
        session(rank).send({FrameKind::kFailure, why}, Clock::now() + kShortly);
      } catch (const SocketFailure&) {  // the lost one, or another
      }
    }
    throw DeviceError(why);
  }

  std::vector<std::string> send_and_wait(const std::string& text) {
    // Longer than rank 0 waits, who says which rank is missing.
    const Deadline deadline = Clock::now() + options_.exchange_timeout + 2 * kShortly;
    Frame frame;
    try {
      sessions_[0].send({FrameKind::kData, text}, deadline);
      frame = sessions_[0].receive(deadline);
    } catch (const SocketFailure& failure) {
      throw DeviceError(fmt::format("rank 0 is lost: {}", failure.what()));
    }
    if (frame.kind == FrameKind::kFailure) throw DeviceError(frame.text);
    std::vector<std::string> texts;
    std::string_view left = frame.text;
    while (frame.kind == FrameKind::kData && left.size() >= 4) {
      const std::uint32_t length = from_bytes(left);
      texts.emplace_back(left.substr(4, length));
      left.remove_prefix(std::min<std::size_t>(left.size(), 4 + std::size_t{length}));
    }
    if (std::ssize(texts) != size()) throw DeviceError("rank 0 sent what is no exchange");
    return texts;
  }

  TcpSession& session(Rank rank) { return sessions_[static_cast<std::size_t>(rank)]; }

  const TcpWorldOptions options_;
  std::vector<TcpSession> sessions_;  // rank 0: by rank; others: that with rank 0
  std::string ended_;
};

}  // namespace

std::unique_ptr<World> make_tcp_world(const TcpWorldOptions& options) {
  return std::make_unique<TcpWorld>(options);
}

}  // namespace amsp
