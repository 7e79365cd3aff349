#include "executor/world/tcp_session.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

#include "core/error.h"

namespace amsp {
namespace {
constexpr std::size_t kSealBytes = 32;
constexpr std::size_t kHeadBytes = 1 + 4;
}  // namespace

std::string authentication(const std::string& secret, const std::string& text) {
  // The prefix makes an empty secret a key like others.
  const std::string key = "amsp:" + secret;
  std::string result(kSealBytes, '\0');
  unsigned length = 0;
  const bool done = HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
                         reinterpret_cast<const unsigned char*>(text.data()), text.size(),
                         reinterpret_cast<unsigned char*>(result.data()), &length) != nullptr;
  AMSP_CHECK(done && length == kSealBytes, "HMAC of libcrypto");
  return result;
}

bool same_bytes(const std::string& a, const std::string& b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

std::string make_nonce() {
  std::string nonce(kNonceBytes, '\0');
  AMSP_CHECK(RAND_bytes(reinterpret_cast<unsigned char*>(nonce.data()),
                        static_cast<int>(nonce.size())) == 1,
             "RAND_bytes of libcrypto");
  return nonce;
}

std::string to_bytes(std::uint32_t number) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8)
    bytes.push_back(static_cast<char>(number >> shift & 0xff));
  return bytes;
}
std::uint32_t from_bytes(std::string_view bytes) {
  std::uint32_t number = 0;
  for (const char byte : bytes.substr(0, 4))
    number = number << 8 | static_cast<unsigned char>(byte);
  return number;
}

std::string make_join(const std::string& secret, const Join& join, const std::string& nonce_a,
                      const std::string& nonce_b) {
  const std::string who = to_bytes(join.rank) + to_bytes(join.size);
  return std::string(kMagic) + who + nonce_b +
         authentication(secret, "join" + nonce_a + nonce_b + who);
}

TcpSession::TcpSession(TcpSocket socket, const std::string& secret, const std::string& nonce_a,
                       const std::string& nonce_b, bool at_rank_0)
    : socket_(std::move(socket)),
      key_(authentication(secret, "session" + nonce_a + nonce_b)),
      at_rank_0_(at_rank_0) {}

std::string TcpSession::seal(bool from_rank_0, std::uint32_t number, const std::string& head,
                             const std::string& text) const {
  return authentication(key_, (from_rank_0 ? "0" : "r") + to_bytes(number) + head + text);
}

void TcpSession::send(const Frame& frame, Deadline deadline) {
  AMSP_CHECK(frame.text.size() <= kLongestText, "a text of {} bytes", frame.text.size());
  const std::string head = std::string(1, static_cast<char>(frame.kind)) +
                           to_bytes(static_cast<std::uint32_t>(frame.text.size()));
  socket_.send_all(head + frame.text + seal(at_rank_0_, sent_++, head, frame.text), deadline);
}

Frame TcpSession::receive(Deadline deadline) {
  const std::string head = socket_.receive(kHeadBytes, deadline);
  const auto kind = static_cast<FrameKind>(head[0]);
  const std::uint32_t length = from_bytes(std::string_view(head).substr(1));
  if (length > kLongestText) throw SocketFailure("sent what is no frame");
  Frame frame{kind, socket_.receive(length, deadline)};
  const std::string sealed = socket_.receive(kSealBytes, deadline);
  if (kind == FrameKind::kWrongSecret) return frame;
  if (!same_bytes(sealed, seal(!at_rank_0_, received_++, head, frame.text)))
    throw SocketFailure("sent a frame that is not authentic");
  return frame;
}

}  // namespace amsp
