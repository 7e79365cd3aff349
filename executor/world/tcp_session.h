#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "executor/world/tcp_socket.h"

namespace amsp {

/// HMAC-SHA-256 of `text` under the ranks' secret: 32 bytes.
std::string authentication(const std::string& secret, const std::string& text);
/// In a time that doesn't depend on where they differ.
bool same_bytes(const std::string& a, const std::string& b);
/// 32 random bytes.
std::string make_nonce();
/// Four bytes, highest first.
std::string to_bytes(std::uint32_t number);
std::uint32_t from_bytes(std::string_view bytes);

// Joining. Rank 0 speaks first:
//   rank 0: kMagic, nonce a
//   rank:   kMagic, rank, size, nonce b, authentication("join" a b rank size)
// then frames in both directions.
constexpr std::string_view kMagic = "amsp-w1\n";
constexpr std::size_t kNonceBytes = 32;
constexpr std::size_t kChallengeBytes = 8 + kNonceBytes;
constexpr std::size_t kJoinBytes = 8 + 4 + 4 + kNonceBytes + 32;

struct Join {
  std::uint32_t rank, size;
};
std::string make_join(const std::string& secret, const Join& join, const std::string& nonce_a,
                      const std::string& nonce_b);

enum class FrameKind : unsigned char {
  kWelcome = 'w',      // all ranks have come
  kData = 'd',         // the text of an exchange; from rank 0 those of all ranks
  kFailure = 'f',      // why the world has ended: DeviceError
  kMistake = 'm',      // why it can't begin: ConfigError
  kWrongSecret = 's',  // the only one without authentication
};
struct Frame {
  FrameKind kind;
  std::string text;
};

/// Frames over a socket, each authenticated with the session's key, its direction and number, so
/// that nobody can forge, repeat or drop one. Not encrypted.
class TcpSession {
 public:
  static constexpr std::size_t kLongestText = std::size_t{64} << 20;

  TcpSession() = default;
  TcpSession(TcpSocket socket, const std::string& secret, const std::string& nonce_a,
             const std::string& nonce_b, bool at_rank_0);

  const TcpSocket& socket() const { return socket_; }
  /// Throw SocketFailure; receive() also for a frame that isn't the session's.
  void send(const Frame& frame, Deadline deadline);
  Frame receive(Deadline deadline);

 private:
  std::string seal(bool from_rank_0, std::uint32_t number, const std::string& head,
                   const std::string& text) const;

  TcpSocket socket_;
  std::string key_;
  bool at_rank_0_ = false;
  std::uint32_t sent_ = 0;
  std::uint32_t received_ = 0;
};

}  // namespace amsp
