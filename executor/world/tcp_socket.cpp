#include "executor/world/tcp_socket.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <thread>

namespace amsp {
namespace {

using Addresses = std::unique_ptr<addrinfo, void (*)(addrinfo*)>;

std::string system_text() {
  return std::strerror(errno);
}

Addresses resolve(const std::string& host, int port, int flags) {
  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags;
  addrinfo* found = nullptr;
  const std::string service = std::to_string(port);
  if (const int error = getaddrinfo(host.c_str(), service.c_str(), &hints, &found); error != 0)
    throw SocketFailure(fmt::format("{}: {}", host, gai_strerror(error)));
  return {found, freeaddrinfo};
}

void set(int descriptor, int level, int option, int value) {
  setsockopt(descriptor, level, option, &value, sizeof(value));
}

/// A peer whose machine is gone never closes: the system has to notice.
void prepare(int descriptor) {
  constexpr int kIdleSeconds = 10;
  constexpr int kBetweenSeconds = 5;
  constexpr int kProbes = 3;
  constexpr int kUnacknowledgedMs = 30'000;
  set(descriptor, IPPROTO_TCP, TCP_NODELAY, 1);
  set(descriptor, SOL_SOCKET, SO_KEEPALIVE, 1);
  set(descriptor, IPPROTO_TCP, TCP_KEEPIDLE, kIdleSeconds);
  set(descriptor, IPPROTO_TCP, TCP_KEEPINTVL, kBetweenSeconds);
  set(descriptor, IPPROTO_TCP, TCP_KEEPCNT, kProbes);
  set(descriptor, IPPROTO_TCP, TCP_USER_TIMEOUT, kUnacknowledgedMs);
}

/// 0, or errno.
int try_connect(const TcpSocket& socket, const addrinfo& address, Deadline deadline) {
  if (::connect(socket.descriptor(), address.ai_addr, address.ai_addrlen) == 0) return 0;
  if (errno != EINPROGRESS) return errno;
  pollfd waiting = {socket.descriptor(), POLLOUT, 0};
  if (poll(&waiting, 1, milliseconds_until(deadline)) <= 0) return ETIMEDOUT;
  int error = 0;
  socklen_t size = sizeof(error);
  getsockopt(socket.descriptor(), SOL_SOCKET, SO_ERROR, &error, &size);
  return error;
}

bool would_block() {
  return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
}

}  // namespace

int milliseconds_until(Deadline deadline) {
  const auto left =
      std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
  constexpr std::int64_t kLongest = 1'000'000;
  return static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, kLongest));
}

TcpSocket::TcpSocket(int descriptor) : descriptor_(descriptor) {}
TcpSocket::~TcpSocket() {
  if (descriptor_ >= 0) close(descriptor_);
}
TcpSocket& TcpSocket::operator=(TcpSocket&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

TcpSocket TcpSocket::listen(const std::string& host, int port) {
  const Addresses addresses = resolve(host, port, AI_PASSIVE);
  std::string why = "no address";
  for (const addrinfo* address = addresses.get(); address != nullptr; address = address->ai_next) {
    TcpSocket made(
        socket(address->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_TCP));
    if (made) {
      set(made.descriptor_, SOL_SOCKET, SO_REUSEADDR, 1);
      if (bind(made.descriptor_, address->ai_addr, address->ai_addrlen) == 0 &&
          ::listen(made.descriptor_, SOMAXCONN) == 0)
        return made;
    }
    why = system_text();
  }
  throw SocketFailure(why);
}

TcpSocket TcpSocket::connect(const std::string& host, int port, Deadline deadline) {
  constexpr auto kBetweenTries = std::chrono::milliseconds(50);
  const Addresses addresses = resolve(host, port, 0);
  std::string why;
  do {
    for (const addrinfo* address = addresses.get(); address != nullptr;
         address = address->ai_next) {
      TcpSocket made(
          socket(address->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_TCP));
      if (!made) throw SocketFailure(system_text());
      const int error = try_connect(made, *address, deadline);
      if (error == 0) {
        prepare(made.descriptor_);
        return made;
      }
      why = std::strerror(error);
    }
    std::this_thread::sleep_for(kBetweenTries);
  } while (std::chrono::steady_clock::now() < deadline);
  throw SocketFailure(why);
}

TcpSocket TcpSocket::accept() const {
  TcpSocket made(accept4(descriptor_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (made) prepare(made.descriptor_);
  return made;
}

void TcpSocket::wait(short events, Deadline deadline) const {
  while (true) {
    pollfd waiting = {descriptor_, events, 0};
    const int ready = poll(&waiting, 1, milliseconds_until(deadline));
    if (ready > 0) return;
    if (ready < 0 && errno != EINTR) throw SocketFailure(system_text());
    if (std::chrono::steady_clock::now() >= deadline) throw SocketFailure("timed out");
  }
}

void TcpSocket::send_all(std::string_view bytes, Deadline deadline) const {
  while (!bytes.empty()) {
    const ssize_t sent = send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent >= 0)
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    else if (would_block())
      wait(POLLOUT, deadline);
    else
      throw SocketFailure(system_text());
  }
}

std::string TcpSocket::receive_some(std::size_t bytes) const {
  std::string buffer(bytes, '\0');
  const ssize_t came = recv(descriptor_, buffer.data(), bytes, 0);
  if (came < 0 && !would_block()) throw SocketFailure(system_text());
  if (came == 0 && bytes > 0) throw SocketFailure("closed by the other side");
  buffer.resize(came < 0 ? 0 : static_cast<std::size_t>(came));
  return buffer;
}

std::string TcpSocket::receive(std::size_t bytes, Deadline deadline) const {
  std::string all;
  while (all.size() < bytes) {
    const std::string piece = receive_some(bytes - all.size());
    if (piece.empty()) wait(POLLIN, deadline);
    all += piece;
  }
  return all;
}

}  // namespace amsp
