#include "executor/fabric/socket_links.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <random>
#include <utility>

#include "core/error.h"
#include "executor/fabric/lost_rank.h"

namespace amsp {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr char kData = 'd', kTalk = 't';
/// For a notice to come in before the end of its connection is dealt with.
constexpr int kNoticeMs = 50;
/// Enough for the messages of a ring's steps, so that a sender seldom waits for the receiver.
constexpr int kSocketBuffer = 1 << 20;

struct Address {
  sockaddr_storage storage{};
  socklen_t size = 0;

  sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
};

/// "10.0.0.1:4567", or "@name" for a Unix socket in the abstract name space.
Address parse_address(const std::string& text) {
  Address address;
  if (text.starts_with('@')) {
    auto& unix_address = reinterpret_cast<sockaddr_un&>(address.storage);
    unix_address.sun_family = AF_UNIX;
    std::memcpy(unix_address.sun_path + 1, text.data() + 1, text.size() - 1);
    address.size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + text.size());
    return address;
  }
  const std::size_t colon = text.find(':');
  auto& inet = reinterpret_cast<sockaddr_in&>(address.storage);
  inet.sin_family = AF_INET;
  inet.sin_port = htons(static_cast<std::uint16_t>(std::stoi(text.substr(colon + 1))));
  AMSP_CHECK(inet_pton(AF_INET, text.substr(0, colon).c_str(), &inet.sin_addr) == 1,
             "{} is no address", text);
  address.size = sizeof inet;
  return address;
}

std::string random_name() {
  std::random_device random;
  return fmt::format("{:08x}{:08x}{:08x}", random(), random(), random());
}

DeviceError system_error(const std::string& what) {
  return DeviceError(fmt::format("{}: {}", what, std::strerror(errno)));
}

Descriptor make_socket(int family) {
  Descriptor made(socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (made.get() < 0) throw system_error("can't make a socket");
  return made;
}

void tune(const Descriptor& made) {
  const int on = 1;
  setsockopt(made.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);  // no effect on Unix sockets
  setsockopt(made.get(), SOL_SOCKET, SO_SNDBUF, &kSocketBuffer, sizeof kSocketBuffer);
}

int milliseconds_until(steady_clock::time_point deadline) {
  const auto left = std::chrono::ceil<milliseconds>(deadline - steady_clock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, 1 << 30));
}

/// Reads exactly so many bytes before the deadline.
bool read_exactly(int fd, void* to, std::size_t bytes, steady_clock::time_point deadline) {
  auto* at = static_cast<std::byte*>(to);
  while (bytes > 0) {
    pollfd one{fd, POLLIN, 0};
    if (poll(&one, 1, milliseconds_until(deadline)) <= 0) return false;
    const ssize_t got = recv(fd, at, bytes, 0);
    if (got <= 0) return false;
    at += got;
    bytes -= static_cast<std::size_t>(got);
  }
  return true;
}

}  // namespace

Descriptor::~Descriptor() {
  if (fd_ >= 0) ::close(fd_);
}

SocketLinks::SocketLinks(const std::string& host, std::vector<Rank> ranks, int position,
                         milliseconds patience)
    : ranks_(std::move(ranks)),
      position_(position),
      patience_(patience),
      password_(random_name()),
      abandoned_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (size() > 1) listen(host);
}

void SocketLinks::listen(const std::string& host) {
  const std::string wanted = host.empty() ? "@amsp-" + random_name() : host + ":0";
  Address address = parse_address(wanted);
  listener_ = make_socket(address.storage.ss_family);
  if (bind(listener_.get(), address.get(), address.size) != 0 || ::listen(listener_.get(), 8) != 0)
    throw system_error("can't listen on " + wanted);
  std::string name = wanted;
  if (!host.empty()) {
    sockaddr_in bound{};
    socklen_t bytes = sizeof bound;
    getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&bound), &bytes);
    name = fmt::format("{}:{}", host, ntohs(bound.sin_port));
  }
  address_ = name + " " + password_;
}

void SocketLinks::connect(const std::vector<std::string>& addresses) {
  if (size() == 1) return;
  const Deadline deadline = steady_clock::now() + patience_;
  // A listener's queue takes connections before they are accepted, so nobody waits for anybody.
  const std::string& theirs = addresses[static_cast<std::size_t>((position_ + 1) % size())];
  dial(theirs, to_next_, kData, deadline);
  dial(theirs, next_talk_, kTalk, deadline);
  accept_previous(deadline);
  listener_ = Descriptor();
}

void SocketLinks::dial(const std::string& address, Descriptor& made, char purpose,
                       Deadline deadline) {
  const std::size_t space = address.find(' ');
  Address to = parse_address(address.substr(0, space));
  made = make_socket(to.storage.ss_family);
  tune(made);
  const timeval limit{milliseconds_until(deadline) / 1000 + 1, 0};
  setsockopt(made.get(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
  const std::string hello = address.substr(space + 1) + purpose;
  if (::connect(made.get(), to.get(), to.size) != 0 ||
      send(made.get(), hello.data(), hello.size(), MSG_NOSIGNAL) !=
          static_cast<ssize_t>(hello.size()))
    throw LostRank(lost_rank_text(next(), std::strerror(errno)));
}

void SocketLinks::accept_previous(Deadline deadline) {
  while (from_previous_.get() < 0 || previous_talk_.get() < 0) {
    pollfd one{listener_.get(), POLLIN, 0};
    if (poll(&one, 1, milliseconds_until(deadline)) <= 0)
      throw LostRank(lost_rank_text(previous(), silence_text(patience_)));
    Descriptor made(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (made.get() < 0) continue;
    std::string hello(password_.size() + 1, '\0');
    if (!read_exactly(made.get(), hello.data(), hello.size(), deadline)) continue;
    if (hello.compare(0, password_.size(), password_) != 0) continue;  // a stranger
    tune(made);
    (hello.back() == kTalk ? previous_talk_ : from_previous_) = std::move(made);
  }
}

void SocketLinks::send_some() {
  while (!sends_.empty()) {
    std::span<const std::byte>& bytes = sends_.front();
    const ssize_t moved =
        send(to_next_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (moved < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (moved < 0) fail(next(), next_talk_, std::strerror(errno));
    bytes = bytes.subspan(static_cast<std::size_t>(moved));
    if (!bytes.empty()) return;
    sends_.pop_front();
    ++sent_;
  }
}

void SocketLinks::receive_some() {
  while (!receives_.empty()) {
    std::span<std::byte>& bytes = receives_.front();
    const ssize_t moved = recv(from_previous_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (moved < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (moved < 0) fail(previous(), previous_talk_, std::strerror(errno));
    if (moved == 0) fail(previous(), previous_talk_, "Connection closed by peer");
    bytes = bytes.subspan(static_cast<std::size_t>(moved));
    if (!bytes.empty()) return;
    receives_.pop_front();
    ++received_;
  }
}

void SocketLinks::wait(Rank peer, Deadline deadline) {
  std::array<pollfd, 5> polled = {pollfd{sends_.empty() ? -1 : to_next_.get(), POLLOUT, 0},
                                  pollfd{receives_.empty() ? -1 : from_previous_.get(), POLLIN, 0},
                                  pollfd{next_talk_.get(), POLLIN, 0},
                                  pollfd{previous_talk_.get(), POLLIN, 0},
                                  pollfd{abandoned_.get(), POLLIN, 0}};
  const int ready = poll(polled.data(), polled.size(), milliseconds_until(deadline));
  if (ready < 0 && errno != EINTR) throw system_error("poll");
  if (polled[4].revents != 0) {
    const std::lock_guard lock(mutex_);
    throw LostRank(closed_);
  }
  if (ready == 0) throw LostRank(lost_rank_text(peer, silence_text(patience_)));
  if (polled[2].revents != 0) hear(next_talk_);
  if (polled[3].revents != 0) hear(previous_talk_);
}

/// A neighbour says something, or ends: it may have finished what it had to do, and what it sent
/// before is still there. If more is wanted of it, the data's connection fails.
void SocketLinks::hear(Descriptor& talk) {
  std::array<char, 256> text{};
  const ssize_t got = recv(talk.get(), text.data(), text.size() - 1, MSG_DONTWAIT);
  if (got > 0) throw LostRank(text.data());
  if (got == 0 || (errno != EAGAIN && errno != EINTR)) talk = Descriptor();
}

void SocketLinks::fail(Rank peer, const Descriptor& talk, const std::string& what) {
  // The connection is closed or about to be, so a notice has come or never will.
  std::array<char, 256> text{};
  pollfd one{talk.get(), POLLIN, 0};
  if (poll(&one, 1, kNoticeMs) > 0 &&
      recv(talk.get(), text.data(), text.size() - 1, MSG_DONTWAIT) > 0)
    throw LostRank(text.data());
  throw LostRank(lost_rank_text(peer, what));
}

void SocketLinks::finish_send() {
  const Deadline deadline = steady_clock::now() + patience_;
  for (;;) {
    send_some();
    if (sent_ > 0) break;
    receive_some();
    wait(next(), deadline);
  }
  --sent_;
}

void SocketLinks::finish_receive() {
  const Deadline deadline = steady_clock::now() + patience_;
  for (;;) {
    receive_some();
    send_some();
    if (received_ > 0) break;
    wait(previous(), deadline);
  }
  --received_;
}

void SocketLinks::abandon(const std::string& reason) {
  const std::lock_guard lock(mutex_);
  if (!closed_.empty() || size() == 1) return;
  closed_ = reason;
  const std::string text = reason.substr(0, 255);
  for (const Descriptor* talk : {&next_talk_, &previous_talk_}) {
    if (talk->get() < 0) continue;
    // Whether it arrives or not, the neighbour sees the connection end.
    if (send(talk->get(), text.data(), text.size(), MSG_DONTWAIT | MSG_NOSIGNAL) < 0) continue;
    shutdown(talk->get(), SHUT_WR);
  }
  const std::uint64_t one = 1;
  if (write(abandoned_.get(), &one, sizeof one) != sizeof one) throw system_error("eventfd");
}

void SocketLinks::close(const std::string& reason) {
  abandon(reason);
  for (const Descriptor* data : {&to_next_, &from_previous_})
    if (data->get() >= 0) shutdown(data->get(), SHUT_RDWR);
}

}  // namespace amsp
