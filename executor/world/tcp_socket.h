#pragma once

#include <chrono>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace amsp {

using Deadline = std::chrono::steady_clock::time_point;
/// Whole milliseconds until then, for poll(); 0 if it's past.
int milliseconds_until(Deadline deadline);

/// What a socket failed with: "closed by the other side", "timed out", the system's text.
class SocketFailure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Owns a socket, which is non-blocking; waits are up to a deadline.
class TcpSocket {
 public:
  TcpSocket() = default;
  explicit TcpSocket(int descriptor);
  ~TcpSocket();
  TcpSocket(TcpSocket&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  TcpSocket& operator=(TcpSocket&& other) noexcept;

  /// Listens at the first address of `host` that allows it. Throws SocketFailure.
  static TcpSocket listen(const std::string& host, int port);
  /// Tries all addresses of `host` until the deadline: the other side may start later.
  static TcpSocket connect(const std::string& host, int port, Deadline deadline);

  /// The next connection, or an empty socket if none waits.
  TcpSocket accept() const;
  int descriptor() const { return descriptor_; }
  explicit operator bool() const { return descriptor_ >= 0; }

  void send_all(std::string_view bytes, Deadline deadline) const;
  std::string receive(std::size_t bytes, Deadline deadline) const;
  /// What has come already, up to `bytes`; empty if nothing has. Throws SocketFailure at the end.
  std::string receive_some(std::size_t bytes) const;

 private:
  void wait(short events, Deadline deadline) const;

  int descriptor_ = -1;
};

}  // namespace amsp
